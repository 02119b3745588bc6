/** Why a call has no result. */
export type SandboxFailure =
  /** It ran into its deadline. */
  | 'timeout'
  /** It wanted more memory than a call has. */
  | 'memory'
  /** It threw, or its promise was rejected. */
  | 'threw'
  /** It is no module with a function as its default export, imports something, or is too long. */
  | 'invalid_code'
  /** An argument is no JSON text, or all together are too long: the caller's fault, not the code's. */
  | 'invalid_input'
  /** What it returned has no JSON, or is a promise that nothing can settle any more. */
  | 'invalid_result'
  | 'result_too_large'
  /** There was no room or no CPU for it before its deadline: the load of others, and no fault of the code. */
  | 'busy'
  /** The thread under it broke. */
  | 'crashed';

/** `json` is the text of what the function returned, null for null and undefined. A message holds no code of ours. */
export type SandboxOutcome = { ok: true; json: string | null } | { ok: false; reason: SandboxFailure; message: string };

/** The message of `busy` where the deadline of a call came before it had its CPU time. */
export const TOO_BUSY = 'The machine was too busy to run the code in time.';

export const failure = (reason: SandboxFailure, message: string): SandboxOutcome => ({ ok: false, reason, message });
