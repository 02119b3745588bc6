import { Buffer } from 'node:buffer';
import { multipartFields } from './multipart.js';
import { headerOf, type ReceivedRequest } from './request.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Maximum size of a body that is parsed as JSON or as a URL-encoded form, because parsing blocks the event loop. */
export const PARSED_BYTES_MAX = 1024 * 1024;
const FIELDS_MAX = 1_000;
const PAYLOAD = Buffer.from('payload=');
const FURTHER_PAYLOAD = Buffer.from('&payload=');
const OPENING_BRACE = 0x7b;
/** Matches the content types of URL-encoded and multipart forms. */
const FORM_TYPE = /form/i;

/** Parsed bodies, cached because verification, classification, handshakes and filters all read them. */
const parsed = new WeakMap<Buffer, { json: unknown }>();
const forms = new WeakMap<Buffer, { type: string | undefined; fields: URLSearchParams }>();

/** Returns the body as JSON, for any content type. Undefined if it is over 1 MB or not JSON. */
export function jsonOf({ body }: Pick<ReceivedRequest, 'body'>): unknown {
  const known = parsed.get(body);
  if (known !== undefined) return known.json;
  const json = body.length > PARSED_BYTES_MAX ? undefined : parse(body.toString('utf8'));
  parsed.set(body, { json });
  return json;
}

/** Returns the body as JSON, or else the JSON in the field `payload` of a form. Undefined if there is neither. */
export function eventJsonOf(request: Received): unknown {
  const json = jsonOf(request);
  return json === undefined ? parse(payloadOf(request) ?? '') : json;
}

/**
 * Returns whether the JSON from `eventJsonOf` may have this member. Only searches the body for the member's name, which
 * is ten times as fast as parsing the body.
 */
export function mayHaveMember(request: Received, path: string): boolean {
  const { body } = request;
  // The search works only for JSON objects. In an array, the path has indexes. In a form, the name may be
  // percent-encoded.
  if (body[0] !== OPENING_BRACE || FORM_TYPE.test(headerOf(request, 'content-type') ?? '')) return true;
  const dot = path.indexOf('.');
  // Returns true for a body with an escape sequence (`\u…`), because it may stand for any character of the name.
  return body.includes(dot < 0 ? path : path.slice(0, dot)) || body.includes('\\u');
}

/** Returns the form field `payload`, in which GitHub, Slack and Plex send JSON, or undefined. */
function payloadOf(request: Received): string | undefined {
  const { body } = request;
  if (!isForm(request)) return formOf(request).get('payload') ?? undefined;
  if (body.length > PARSED_BYTES_MAX) return undefined;
  // Decodes only the field `payload`: a hostile form may have hundreds of thousands of fields.
  const isFirst = body.subarray(0, PAYLOAD.length).equals(PAYLOAD);
  const start = isFirst ? 0 : body.indexOf(FURTHER_PAYLOAD) + 1;
  if (start === 0 && !isFirst) return undefined;
  const end = body.indexOf('&', start);
  return new URLSearchParams(body.toString('utf8', start, end < 0 ? body.length : end)).get('payload') ?? undefined;
}

export function isForm(request: Received): boolean {
  return (
    headerOf(request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  );
}

/**
 * Returns the form fields without files. Empty if the body is not a form, or if it is a URL-encoded form of over 1 MB.
 * Do not modify the result, because it is cached.
 */
export function formOf(request: Received): URLSearchParams {
  const type = headerOf(request, 'content-type');
  const known = forms.get(request.body);
  if (known !== undefined && known.type === type) return known.fields;
  const fields = parseForm(request, type);
  forms.set(request.body, { type, fields });
  return fields;
}

/** Returns the first 1,000 fields of a URL-encoded form of at most 1 MB, or the fields of a multipart form. */
export function firstFieldsOf(request: Received): Iterable<[name: string, value: string]> {
  if (!isForm(request)) return formOf(request);
  return new URLSearchParams(request.body.length > PARSED_BYTES_MAX ? '' : firstFields(request.body.toString()));
}

/** Returns an encoded form cut after its first 1,000 fields. Decoding all fields of a hostile form takes 100 ms. */
function firstFields(encoded: string): string {
  let end = -1;
  for (let count = 0; count < FIELDS_MAX; count += 1) {
    end = encoded.indexOf('&', end + 1);
    if (end === -1) return encoded;
  }
  return encoded.slice(0, end);
}

function parseForm(request: Received, type: string | undefined): URLSearchParams {
  if (!isForm(request)) return new URLSearchParams(multipartFields(type, request.body) ?? []);
  return new URLSearchParams(request.body.length > PARSED_BYTES_MAX ? '' : request.body.toString('utf8'));
}

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Returns the value at a path such as `entry.0.changes.0.field`. Never reads inherited members. */
export function memberOf(json: unknown, path: string): unknown {
  let value = json;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
