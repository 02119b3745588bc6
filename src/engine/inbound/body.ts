import { multipartFields } from './multipart.js';
import { headerOf, type ReceivedRequest } from './request.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Read once per request: verifying, classifying and the handshakes all ask for it. */
const parsed = new WeakMap<Buffer, { json: unknown }>();

/** The body as JSON, whatever content type it claims; undefined when it is none. */
export function jsonOf({ body }: Pick<ReceivedRequest, 'body'>): unknown {
  const known = parsed.get(body);
  if (known !== undefined) return known.json;
  const json = parse(body.toString('utf8'));
  parsed.set(body, { json });
  return json;
}

/** Whether the body says that it is a form, as browsers encode it. */
export function isForm(request: Received): boolean {
  return (
    headerOf(request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  );
}

/** The fields of a form, URL-encoded or multipart without its files; empty when the body is none. */
export function formOf(request: Received): URLSearchParams {
  if (isForm(request)) return new URLSearchParams(request.body.toString('utf8'));
  return new URLSearchParams(multipartFields(headerOf(request, 'content-type'), request.body) ?? []);
}

/** Whether `json` is an object with members, which an array is not. */
export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/**
 * The member of `json` at a path of names and indexes, joined by dots (`entry.0.changes.0.field`); undefined without one.
 * Only own members count, so that no path leads into a prototype.
 */
export function memberOf(json: unknown, path: string): unknown {
  let value = json;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

/** A string, number or boolean as text; undefined for everything else. */
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
