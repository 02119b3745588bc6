/** Identifies requests of the console. Pages of other sites cannot send this header. */
export const CONSOLE_HEADER = { 'x-posthorn-console': '1' };
/** Header that selects the environment of an API call. */
export const ENVIRONMENT_HEADER = 'x-posthorn-environment';

/** A response, and the time at which its headers arrived, in milliseconds since the epoch. */
export interface Arrived {
  response: Response;
  atMs: number;
}

/** Maximum age of a prefetched response. An older response is discarded, and the request is sent again. */
const KEPT_MS = 10_000;

const asked = new Map<string, { answer: Promise<Arrived>; untilMs: number }>();

/**
 * Sends a request that a screen will need soon, and returns its response. An identical request of the screen within
 * `KEPT_MS` gets the same response. Does not use the API client, because it runs before the rest of the console is
 * loaded.
 */
export function askEarly(request: Request): Promise<Arrived> {
  const answer = arriving(request);
  asked.set(keyOf(request), { answer, untilMs: Date.now() + KEPT_MS });
  // Avoids an unhandled rejection if the response is never used.
  answer.catch(() => undefined);
  return answer;
}

/** Returns the prefetched response to a request. If there is none, sends the request. */
export function answerTo(request: Request): Promise<Arrived> {
  const key = keyOf(request);
  const early = asked.get(key);
  asked.delete(key);
  return early !== undefined && Date.now() < early.untilMs ? early.answer : arriving(request);
}

async function arriving(request: Request): Promise<Arrived> {
  const response = await fetch(request, { credentials: 'same-origin' });
  return { response, atMs: Date.now() };
}

/** Returns a key that does not depend on the order and escaping of the query parameters. */
function keyOf({ method, url, headers }: Request): string {
  const { origin, pathname, searchParams } = new URL(url);
  searchParams.sort();
  return `${method} ${origin}${pathname}?${searchParams.toString()} ${headers.get(ENVIRONMENT_HEADER) ?? ''}`;
}
