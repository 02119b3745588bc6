import { randomUUID } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { errorOf, PosthornConnectionError, type PosthornError, PosthornTimeoutError, redirectOf } from './errors.js';

export interface Tries {
  /** Maximum number of attempts, including the first. */
  triesMax: number;
  /** Timeout of one attempt, including the response body. */
  timeoutMs: number;
  fetch: (request: Request) => Promise<Response>;
  /** Resolves after the given time. Rejects when the signal is aborted. */
  wait: (ms: number, signal: AbortSignal | null) => Promise<void>;
  /** Returns a number in [0, 1). */
  random: () => number;
}

const BACKOFF_MS_FIRST = 500;
const BACKOFF_MS_MAX = 8_000;
/** Maximum wait that the service may ask for. If it asks for more, the error is thrown immediately. */
const RETRY_AFTER_SECONDS_MAX = 60;
/** Statuses that mean that the request had no effect or is safe to repeat. */
const AGAIN: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

export const DEFAULT_TRIES: Tries = {
  triesMax: 5,
  timeoutMs: 30_000,
  fetch: (request) => globalThis.fetch(request),
  wait: async (ms, signal) => rest(ms, undefined, signal === null ? {} : { signal }),
  random: Math.random,
};

/**
 * Sends a request and returns the response. Retries 429, 5xx and broken connections, after the wait that the service
 * asks for or exponential backoff with full jitter. All attempts of a POST have one idempotency key, so that it takes
 * effect once. Throws the last error.
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
  // Status 409 means that an earlier attempt is still running. Its response is stored under the idempotency key, so a
  // retry receives it.
  return AGAIN.has(error.status) || (error.status === 409 && error.details['reason'] === 'in_flight');
}

async function tryOnce(
  request: Request,
  { fetch, timeoutMs }: Tries,
): Promise<Response | PosthornError | PosthornConnectionError> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    // Each attempt uses a copy, because a body can be read only once.
    const response = await fetch(
      new Request(request.clone(), { redirect: 'manual', signal: AbortSignal.any([request.signal, late.signal]) }),
    );
    const redirect = redirectOf(request.url, response);
    if (redirect !== null) return redirect;
    if (!response.ok) return await errorOf(response);
    // A request is also retried if the connection breaks during the response body.
    const body = response.status === 204 ? null : await response.arrayBuffer();
    return new Response(body, { status: response.status, headers: response.headers });
  } catch (error) {
    if (request.signal.aborted) throw request.signal.reason;
    if (late.signal.aborted)
      return new PosthornTimeoutError(
        `No response from ${new URL(request.url).origin} within ${timeoutMs / 1_000} s.`,
        {
          cause: error,
        },
      );
    return new PosthornConnectionError(`${new URL(request.url).origin} could not be reached: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the message of the error's cause, because the message `fetch failed` alone gives no reason. */
export function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message !== '' ? cause.message : ((cause as { code?: string }).code ?? cause.name);
}
