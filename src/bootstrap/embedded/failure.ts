/**
 * PostgreSQL cannot run embedded on this machine or at this time. The message is one sentence for the operator, ready
 * to print.
 */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

/** Returns the `code` of a failed system call, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
