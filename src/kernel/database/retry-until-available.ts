import { isStorageAway, sqlState } from './database.js';

/** Codes of a connection that could not be made or broke: a database that is away rather than an error of ours. */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** What pg and its pool say, without a code, when a connection is gone or none comes in time. */
const CONNECTION_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Cannot use a pool after',
  'Client has encountered a connection error',
  'Client was closed',
  'Query read timeout',
  'Driver not Connected',
  'Query runner already released',
  'Database connection provided by a query runner was already released',
];

/** The server is there and says that it starts or stops: it will be back. */
const STARTING = new Set(['57P01', '57P02', '57P03']);

/** How long a start waits for a server that does not say a word. */
const SILENCE_MS_MAX = 30_000;
const REST_MS = 500;

/** Whether an error says that PostgreSQL could not be reached, or was not there to the end; every other error is one of the statement. */
export function isUnreachable(error: unknown): boolean {
  if (sqlState(error) !== null) return isStorageAway(error);
  const driverError = error instanceof Error && 'driverError' in error ? error.driverError : error;
  if (!(driverError instanceof Error)) return false;
  const code = 'code' in driverError ? driverError.code : null;
  if (typeof code === 'string' && CONNECTION_CODES.has(code)) return true;
  return CONNECTION_MESSAGES.some((start) => driverError.message.startsWith(start));
}

/**
 * Work of a start that may be done again, until PostgreSQL is there for it: half a minute for one that is silent, and as
 * long as it takes for one that says that it starts or stops. `onWait` is told once.
 */
export async function retryUntilAvailable<T>(
  work: () => Promise<T>,
  onWait: (error: Error) => void = () => undefined,
): Promise<T> {
  let silentSinceMs: number | null = null;
  for (;;) {
    const startedAtMs = performance.now();
    try {
      return await work();
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      const nowMs = performance.now();
      if (silentSinceMs === null) onWait(error as Error);
      if (silentSinceMs === null || STARTING.has(sqlState(error) ?? '') || nowMs - startedAtMs >= SILENCE_MS_MAX)
        silentSinceMs = nowMs;
      else if (nowMs - silentSinceMs >= SILENCE_MS_MAX) throw error;
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  }
}
