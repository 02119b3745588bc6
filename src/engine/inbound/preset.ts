import type { ResponseSettings } from './response.js';
import type { HmacScheme, Scheme } from './scheme.js';
import type { Recipe } from './source.js';

export interface Preset {
  id: string;
  title: string;
  verify: Scheme;
  /** Tells the user what to enter as the endpoint's secret, in the terms of the provider's console. */
  secret: string;
  /** Where to read the event type. Its parts are joined by dots. */
  eventType: readonly Recipe[];
  /** Id that the provider repeats when it retries. Empty if none is safe for deduplication. */
  dedupeId: readonly Recipe[];
  /** Methods of the provider's unsigned, empty checks of the URL. They are answered with 200 and create no event. */
  urlCheck?: readonly ('GET' | 'HEAD')[];
  /** Default response of the endpoint, or null for the global default. */
  response: ResponseSettings | null;
  /** How the provider retries when the answer is not 2xx. Advice, not a guarantee. `attempts` includes the first. */
  retry: { attempts?: number; note: string };
  /**
   * A small sample event. `{{id}}`, `{{secret}}`, `{{seconds}}`, `{{millis}}` and `{{iso}}` are filled in on sending.
   */
  sample: { headers: Readonly<Record<string, string>>; body: string };
}

/** On sending, a string that consists only of `{{seconds}}` or `{{millis}}` becomes a number. */
export function jsonSample(json: unknown, headers: Readonly<Record<string, string>> = {}): Preset['sample'] {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
}

/** HMAC-SHA-256 over the body alone, in one header. The key is the characters of the secret. */
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
