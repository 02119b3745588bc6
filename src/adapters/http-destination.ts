import type { EgressAnswer } from '#egress/agent.js';
import type { EgressGate } from '#egress/gate.js';
import { excerptOf } from '#engine/excerpt.js';
import type { Fault } from '#kernel/errors.js';
import type { DeliveryAnswer, Draft, SentExchange } from '#modules/destinations/contract.js';

/** Maximum number of response bytes that are read. */
export const ANSWER_BYTES_MAX = 64 * 1024;

/** Returns whether a request with this method and an empty body has no content-length header. */
export function isBodiless(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Result for a destination without a URL. Should not occur, because validation requires a URL. */
export const NO_URL: DeliveryAnswer = {
  answer: { kind: 'error', error: 'protocol' },
  durationMs: 0,
  excerpt: 'The destination has no URL.',
};

interface DraftRules {
  gate: EgressGate;
  noCredentials: string;
  /** Returns why deliveries to the URL would loop back to this service, or null if they would not. */
  loopFault: (url: string) => string | null;
}

/**
 * Returns the faults of a destination's draft. The type of the destination requires a URL and accepts neither config
 * nor credentials.
 */
export function draftFaults({ url, config, credentials }: Draft, rules: DraftRules): Fault[] {
  const faults: Fault[] = Object.keys(config).map((key) => ({ path: `config.${key}`, message: 'is not known here' }));
  if (credentials !== null) faults.push({ path: 'credentials', message: rules.noCredentials });
  if (url === null) return [{ path: 'url', message: 'is required' }, ...faults];
  const loopFault = rules.loopFault(url);
  if (loopFault !== null) return [{ path: 'url', message: loopFault, check: 'connectivity' }, ...faults];
  const verdict = rules.gate.check(url);
  return verdict.ok ? faults : [{ path: 'url', message: verdict.reason, check: verdict.check }, ...faults];
}

/**
 * Converts the result of an HTTP request into the result of a delivery. `sent` is the request that is stored with a
 * failed attempt.
 */
export function deliveryAnswerOf(answer: EgressAnswer, sent: Omit<SentExchange, 'answered'>): DeliveryAnswer {
  const durationMs = Math.round(answer.durationMs);
  // Names the fields, because spreading `sent` takes half a microsecond per delivery.
  const exchangeWith = (answered: SentExchange['answered']): SentExchange => ({
    method: sent.method,
    url: sent.url,
    headers: sent.headers,
    answered,
  });
  if (answer.kind === 'error')
    return {
      answer: { kind: 'error', error: answer.error },
      durationMs,
      excerpt: answer.detail,
      exchange: exchangeWith(null),
    };
  const { status, headers, body } = answer;
  return {
    answer: { kind: 'response', status, retryAfter: headers['retry-after'] ?? null },
    durationMs,
    excerpt: excerptOf(body),
    exchange: exchangeWith(headers),
  };
}
