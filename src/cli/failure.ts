import { PosthornConnectionError, PosthornError } from '../client/index.js';

export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  unauthenticated: 3,
  notFound: 4,
  refused: 5,
  unreachable: 6,
  interrupted: 130,
} as const;

/** A command failure. Its message names the next step for the user. */
export class CommandFailure extends Error {
  constructor(
    message: string,
    readonly exitCode: number = EXIT.error,
  ) {
    super(message);
  }
}

export function explain(error: unknown): { message: string; exitCode: number } {
  if (error instanceof CommandFailure) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof PosthornError) return { message: sentence(error), exitCode: exitCodeOf(error) };
  if (error instanceof PosthornConnectionError) return { message: error.message, exitCode: EXIT.unreachable };
  return { message: error instanceof Error ? error.message : String(error), exitCode: EXIT.error };
}

function sentence({ message, requestId, details, status }: PosthornError): string {
  const fields = (details['fields'] as { path: string; message: string }[] | undefined) ?? [];
  const more = fields.length > 1 ? fields.map(({ path, message: fault }) => `\n  ${path}: ${fault}`).join('') : '';
  const login = status === 401 ? '\nRun `posthorn login`, or set POSTHORN_API_KEY.' : '';
  return `${message}${more}${login}${status >= 500 && requestId !== null ? ` (${requestId})` : ''}`;
}

function exitCodeOf({ status }: PosthornError): number {
  if (status === 401 || status === 403) return EXIT.unauthenticated;
  if (status === 404) return EXIT.notFound;
  if (status === 400 || status === 409 || status === 422) return EXIT.refused;
  return EXIT.error;
}
