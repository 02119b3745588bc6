import { randomUUID } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { errorOf, PosthornConnectionError, type PosthornError, PosthornTimeoutError, redirectOf } from './errors.js';

/** How requests are tried. */
export interface Tries {
  /** Tries in all; 1 for none but the first. */
  triesMax: number;
  /** Of one try, with its body. */
  timeoutMs: number;
  fetch: (request: Request) => Promise<Response>;
  /** Resolves after so long; rejects when the signal is aborted. */
  wait: (ms: number, signal: AbortSignal | null) => Promise<void>;
  /** In [0, 1). */
  random: () => number;
}

const BACKOFF_MS_FIRST = 500;
const BACKOFF_MS_MAX = 8_000;
/** Who is asked to wait for longer is told so instead. */
const RETRY_AFTER_SECONDS_MAX = 60;
/** The service says with these that it did nothing, or that the same request may come again. */
const AGAIN: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export const DEFAULT_TRIES: Tries = {
  triesMax: 5,
  timeoutMs: 30_000,
  fetch: (request) => globalThis.fetch(request),
  wait: async (ms, signal) => rest(ms, undefined, signal === null ? {} : { signal }),
  random: Math.random,
};

/**
 * Sends a request until it is answered for good: 429, 5xx and broken connections are tried again, after what the service asks
 * for or a backoff with full jitter. A POST carries one idempotency key through all of its tries, so that none is done twice.
 * Throws what the last try came to.
 */
export async function send(given: Request, tries: Tries): Promise<Response> {
  const request =
    given.method === 'POST' && !given.headers.has('idempotency-key')
      ? new Request(given, { headers: keyed(given.headers) })
      : given;
  for (let tried = 1; ; tried += 1) {
    const outcome = await tryOnce(request, tries);
    if (outcome instanceof Response) return outcome;
    if (tried >= tries.triesMax || !mayTryAgain(outcome)) throw outcome;
    const askedMs =
      'retryAfterSeconds' in outcome && outcome.retryAfterSeconds !== null ? outcome.retryAfterSeconds * 1_000 : null;
    await tries.wait(
      askedMs ?? Math.min(BACKOFF_MS_FIRST * 2 ** (tried - 1), BACKOFF_MS_MAX) * tries.random(),
      request.signal,
    );
  }
}

function keyed(headers: Headers): Headers {
  const own = new Headers(headers);
  own.set('idempotency-key', randomUUID());
  return own;
}

function mayTryAgain(error: PosthornError | PosthornConnectionError): boolean {
  if (error instanceof PosthornConnectionError) return true;
  if ((error.retryAfterSeconds ?? 0) > RETRY_AFTER_SECONDS_MAX) return false;
  // The same request of before still runs: its answer is kept for us.
  return AGAIN.has(error.status) || (error.status === 409 && error.details['reason'] === 'in_flight');
}

async function tryOnce(
  request: Request,
  { fetch, timeoutMs }: Tries,
): Promise<Response | PosthornError | PosthornConnectionError> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    // Each try reads a copy: a body can be read once.
    const response = await fetch(
      new Request(request.clone(), { redirect: 'manual', signal: AbortSignal.any([request.signal, late.signal]) }),
    );
    const redirect = redirectOf(request.url, response);
    if (redirect !== null) return redirect;
    if (!response.ok) return await errorOf(response);
    // A connection that breaks under the body is tried again too.
    const body = response.status === 204 ? null : await response.arrayBuffer();
    return new Response(body, { status: response.status, headers: response.headers });
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    if (late.signal.aborted)
      return new PosthornTimeoutError(`No answer of ${new URL(request.url).origin} within ${timeoutMs / 1_000} s.`, {
        cause: error,
      });
    return new PosthornConnectionError(`${new URL(request.url).origin} could not be reached: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** `fetch failed` says nothing; its cause does. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message !== '' ? cause.message : ((cause as { code?: string }).code ?? cause.name);
}
