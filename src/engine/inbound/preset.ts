import type { ResponseSettings } from './response.js';
import type { HmacScheme, Scheme } from './scheme.js';
import type { Recipe } from './source.js';

/** All that an endpoint needs to know about one provider. */
export interface Preset {
  /** What `preset` of an endpoint holds. */
  id: string;
  title: string;
  verify: Scheme;
  /** What to give as the endpoint's secret, in the words of the provider's console. */
  secret: string;
  /** Where the event type stands; its parts are joined by dots. */
  eventType: readonly Recipe[];
  /** Where the id stands that the provider repeats when it sends again; empty where it sends none that is safe to drop by. */
  dedupeId: readonly Recipe[];
  /** The provider asks for the URL with one of these, unsigned and without a body, before it saves it: answered 200, and no event. */
  urlCheck?: readonly ('GET' | 'HEAD')[];
  /** How the endpoint answers unless it says otherwise; null for the default answer. */
  response: ResponseSettings | null;
  /** What the provider does by itself when the answer is no 2xx: advice, not a promise. `attempts` includes the first one. */
  retry: { attempts?: number; note: string };
  /** A small event. `{{id}}`, `{{secret}}`, `{{seconds}}`, `{{millis}}` and `{{iso}}` are filled in when it is sent. */
  sample: { headers: Readonly<Record<string, string>>; body: string };
}

/** A sample with a JSON body. A text that is `{{seconds}}` or `{{millis}}` and nothing else becomes a number. */
export function jsonSample(json: unknown, headers: Readonly<Record<string, string>> = {}): Preset['sample'] {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(json) };
}

/** HMAC-SHA256 over the body alone, in one header, under the secret's own characters. */
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
