import type { ResponseSettings } from './response.js';
import type { HmacScheme, Scheme } from './scheme.js';
import type { Recipe } from './source.js';

export interface Preset {
  id: string;
  title: string;
  verify: Scheme;
  /** Tells the user what to enter as the endpoint's secret, in the terms of the provider's console. */
  secret: string;
  /** Where to read the event type. The parts of a recipe are joined by dots. */
  eventType: readonly Recipe[];
  /** Where to read the id that the provider repeats when it retries. Empty if no id is safe for deduplication. */
  dedupeId: readonly Recipe[];
  /** Methods of the provider's unsigned, empty URL checks. Such a check is answered with 200 and creates no event. */
  urlCheck?: readonly ('GET' | 'HEAD')[];
  /** Default response of the endpoint, or null for the global default. */
  response: ResponseSettings | null;
  /** How the provider retries when the answer is not 2xx. Advice, not a guarantee. `attempts` includes the first. */
  retry: { attempts?: number; note: string };
  /**
   * Small sample event. `{{id}}`, `{{secret}}`, `{{seconds}}`, `{{millis}}` and `{{iso}}` are replaced on sending.
   * `query` is appended to the query of the URL.
   */
  sample: { headers: Readonly<Record<string, string>>; body: string; query?: string };
}

/** Builds a sample with a JSON body. A string of only `{{seconds}}` or `{{millis}}` becomes a number on sending. */
export function jsonSample(json: unknown, headers: Readonly<Record<string, string>> = {}): Preset['sample'] {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
}

/** Returns a scheme with the HMAC-SHA-256 of only the body in one header. The key is the secret's characters. */
export function bodyHmac(header: string, more: Partial<HmacScheme> = {}): HmacScheme {
  return {
    kind: 'hmac',
    hash: 'sha256',
    headers: [header],
    encoding: 'hex',
    keyEncoding: 'utf8',
    signed: ['body'],
    ...more,
  };
}
