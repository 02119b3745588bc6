import type { CodeLogs } from '#engine/code-logs.js';

export type SandboxFailure =
  | 'timeout'
  | 'memory'
  | 'threw'
  /** The code is not a module with a function as its default export, imports something, or is too long. */
  | 'invalid_code'
  /** An argument is not JSON text, or the arguments are too long in total. This is the caller's fault. */
  | 'invalid_input'
  /** The result is undefined or cannot be converted to JSON, or is a promise that can no longer be settled. */
  | 'invalid_result'
  | 'result_too_large'
  /** No thread or CPU time was available in time, because of other load. The code did not cause this failure. */
  | 'busy'
  | 'crashed';

/**
 * `json` is the function's result. `message` reveals neither code of Posthorn nor secrets of the call. `logs` is omitted
 * if the code wrote nothing to the console.
 */
export type SandboxOutcome = (
  { ok: true; json: string | null } | { ok: false; reason: SandboxFailure; message: string }
) & { logs?: CodeLogs };

/** Message of `busy` for a call whose deadline passed before it got its CPU time. */
export const TOO_BUSY = 'The machine was too busy to run the code in time.';

export const failure = (reason: SandboxFailure, message: string): SandboxOutcome => ({ ok: false, reason, message });
