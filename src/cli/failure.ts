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

/** The fields of an error of the service, as `--json` shows them. */
export interface ServiceError {
  type: string;
  status: number;
  request_id: string | null;
  details: Readonly<Record<string, unknown>>;
}

/** Details that repeat the message. */
const REPEATED = ['fields', 'check', 'reason'];

export function explain(error: unknown): { message: string; exitCode: number; service?: ServiceError } {
  if (error instanceof CommandFailure) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof PosthornError) {
    const { type, status, requestId, details } = error;
    const service = { type, status, request_id: requestId, details };
    return { message: sentence(error), exitCode: exitCodeOf(error), service };
  }
  if (error instanceof PosthornConnectionError) return { message: error.message, exitCode: EXIT.unreachable };
  return { message: error instanceof Error ? error.message : String(error), exitCode: EXIT.error };
}

function sentence({ message, requestId, details, status }: PosthornError): string {
  const fields = (details['fields'] as { path: string; message: string }[] | undefined) ?? [];
  const lines = [
    ...(fields.length > 1 ? fields.map(({ path, message: fault }) => `${path}: ${fault}`) : []),
    ...Object.entries(details)
      .filter(([name]) => !REPEATED.includes(name))
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  ];
  const more = lines.map((line) => `\n  ${line}`).join('');
  const login = status === 401 ? '\nRun `posthorn login`, or set POSTHORN_API_KEY.' : '';
  return `${message}${more}${login}${status >= 500 && requestId !== null ? ` (${requestId})` : ''}`;
}

function exitCodeOf({ status }: PosthornError): number {
  if (status === 401 || status === 403) return EXIT.unauthenticated;
  if (status === 404) return EXIT.notFound;
  if (status === 400 || status === 409 || status === 422) return EXIT.refused;
  return EXIT.error;
}
