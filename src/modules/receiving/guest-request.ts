import { firstFieldsOf, jsonOf } from '#engine/inbound/body.js';
import { type ReceivedRequest, valuesByName, type Verification } from '#engine/inbound/request.js';

/** Maximum decoded size of a body that code may read. The VM that runs the code has 64 MB of memory. */
export const CODE_BODY_BYTES_MAX = 1024 * 1024;
/**
 * Maximum size of the input's JSON. The body can occur twice, as text and as form fields, and an escaped control
 * character takes six bytes. Together, this is up to twelve times the size of the body.
 */
export const CODE_INPUT_BYTES_MAX = 13 * CODE_BODY_BYTES_MAX;
/** Matches code that mentions `form`. Only such code gets the form's fields, because decoding them costs time. */
const FORM = /\bform\b/;

/** Values by name. A repeated name has a list of its values. */
type Values = Record<string, string | string[]>;

export interface GuestRequest {
  method: string;
  path: string;
  query: Values;
  /** Headers with lower-case names. */
  headers: Values;
  /** Fields of a URL-encoded or multipart form, without files; otherwise empty. Set if the code mentions `form`. */
  form?: Values;
  /** Body without its content encoding: parsed if it is JSON, otherwise text, or base64 if it is not text. */
  body: unknown;
  verification: Verification;
}

export function guestRequest(
  { method, path, query, headers, body }: ReceivedRequest,
  verification: Verification,
  code: string,
): GuestRequest {
  return {
    method,
    path,
    query: valuesOf(new URLSearchParams(query)),
    headers: valuesOf(headers),
    ...(FORM.test(code) && { form: valuesOf(firstFieldsOf({ headers, body })) }),
    body: guestBody(body),
    verification,
  };
}

function valuesOf(pairs: Iterable<readonly [name: string, value: string]>): Values {
  const named = [...valuesByName(pairs)];
  return Object.fromEntries(named.map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]));
}

function guestBody(body: Buffer): unknown {
  const json = jsonOf({ body });
  if (json !== undefined) return json;
  const text = body.toString();
  return Buffer.from(text).equals(body) ? text : body.toString('base64');
}
