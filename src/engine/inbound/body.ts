import { multipartFields } from './multipart.js';
import { headerOf, type ReceivedRequest } from './request.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Cache per request: verification, classification and handshakes all read the parsed body. */
const parsed = new WeakMap<Buffer, { json: unknown }>();

/** Returns the body as JSON whatever its content type, or undefined if it is not JSON. */
export function jsonOf({ body }: Pick<ReceivedRequest, 'body'>): unknown {
  const known = parsed.get(body);
  if (known !== undefined) return known.json;
  const json = parse(body.toString('utf8'));
  parsed.set(body, { json });
  return json;
}

export function isForm(request: Received): boolean {
  return (
    headerOf(request, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  );
}

/** Returns the form fields without files. Empty if the body is not a URL-encoded or multipart form. */
export function formOf(request: Received): URLSearchParams {
  if (isForm(request)) return new URLSearchParams(request.body.toString('utf8'));
  return new URLSearchParams(multipartFields(headerOf(request, 'content-type'), request.body) ?? []);
}

export function isObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Returns the member at a path like `entry.0.changes.0.field`. Reads only own members, never a prototype. */
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
