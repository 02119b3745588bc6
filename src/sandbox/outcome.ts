export type SandboxFailure =
  | 'timeout'
  | 'memory'
  | 'threw'
  /** The code is no module with a function as its default export, imports something, or is too long. */
  | 'invalid_code'
  /** An argument is no JSON text, or the arguments together are too long. The fault of the caller, not of the code. */
  | 'invalid_input'
  /** The result can't be converted to JSON, or is a promise that nothing can settle any more. */
  | 'invalid_result'
  | 'result_too_large'
  /** No thread or CPU was available before the deadline, because of other load. Not the fault of the code. */
  | 'busy'
  | 'crashed';

/** `json` is the text of the function's result, null for null and undefined. A message contains no code of Posthorn. */
export type SandboxOutcome = { ok: true; json: string | null } | { ok: false; reason: SandboxFailure; message: string };

/** Message of `busy` for a call whose deadline passed before it had its CPU time. */
export const TOO_BUSY = 'The machine was too busy to run the code in time.';

export const failure = (reason: SandboxFailure, message: string): SandboxOutcome => ({ ok: false, reason, message });
