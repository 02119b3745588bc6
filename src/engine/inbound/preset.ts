import type { ResponseSettings } from './response.js';
import type { HmacScheme, Scheme } from './scheme.js';
import type { Recipe } from './source.js';

export interface Preset {
  id: string;
  title: string;
  verify: Scheme;
  /** Help text for the endpoint's secret, in the terms of the provider's console. */
  secret: string;
  /** Sources of the event type (see `Recipe`), in order of preference. The values of one recipe are joined by dots. */
  eventType: readonly Recipe[];
  /**
   * Sources of the id that the provider repeats in a retry (see `Recipe`). Empty if no id is safe for deduplication.
   */
  dedupeId: readonly Recipe[];
  /**
   * Methods of the empty, unsigned requests with which the provider checks the URL. Such a request gets 200 and creates
   * no event.
   */
  urlCheck?: readonly ('GET' | 'HEAD')[];
  /** Default response of the endpoint, or null for the global default. */
  response: ResponseSettings | null;
  /**
   * The provider's retries after a response other than 2xx. For information only. `attempts` includes the first
   * attempt.
   */
  retry: { attempts?: number; note: string };
  /**
   * Small sample event. When it is sent, `{{id}}`, `{{secret}}`, `{{seconds}}`, `{{millis}}` and `{{iso}}` are
   * replaced, and `query` is appended to the URL's query.
   */
  sample: { headers: Readonly<Record<string, string>>; body: string; query?: string };
}

/** Builds a sample with a JSON body. When it is sent, numbers replace the strings `{{seconds}}` and `{{millis}}`. */
export function jsonSample(json: unknown, headers: Readonly<Record<string, string>> = {}): Preset['sample'] {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
}

/** Returns a scheme in which one header contains the HMAC-SHA-256 of the body. The key is the secret's characters. */
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
