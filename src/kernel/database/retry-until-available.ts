import { isStorageAway, sqlState } from './database.js';

/** Error codes of connections that failed or broke. They indicate an unavailable database, not a bug. */
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

/** Errors of pg and its pool that have no code: the connection was lost or not available in time. */
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

/** The server reports that it is starting or stopping. It will be available again. */
const STARTING = new Set(['57P01', '57P02', '57P03']);

/** Maximum time that the start of the service waits for a server that does not respond. */
const SILENCE_MS_MAX = 30_000;
const REST_MS = 500;

/** Returns whether PostgreSQL was unreachable or the connection broke. Other errors concern the statement. */
export function isUnreachable(error: unknown): boolean {
  if (sqlState(error) !== null) return isStorageAway(error);
  const driverError = error instanceof Error && 'driverError' in error ? error.driverError : error;
  if (!(driverError instanceof Error)) return false;
  const code = 'code' in driverError ? driverError.code : null;
  if (typeof code === 'string' && CONNECTION_CODES.has(code)) return true;
  return CONNECTION_MESSAGES.some((start) => driverError.message.startsWith(start));
}

/**
 * Runs repeatable work until PostgreSQL is available. Waits half a minute for a server that does not respond, and
 * without a limit for a server that reports that it is starting or stopping. Calls `onWait` before the first wait.
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
