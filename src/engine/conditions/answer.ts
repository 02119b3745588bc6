import { FIELD_VALUE, TOKEN } from '../headers.js';
import type { SynchronousAnswer } from '../inbound/request.js';
import { type Faults, isObject } from './faults.js';
import type { RequestView } from './request-view.js';
import { compileTemplate, type Encoding, type Template } from './template.js';

export interface AnswerTemplate {
  of(view: RequestView): SynchronousAnswer;
}

const BODY_BYTES_MAX = 64 * 1024;
const HEADERS_MAX = 32;
const HEADER_BYTES_MAX = 4096;
const PLACES_MAX = 50;
const STATUS_DEFAULT = 200;

/** Statuses without a body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

const FORBIDDEN_NAMES: ReadonlySet<string> = new Set([
  // Headers that control the connection and the framing of messages.
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'trailers',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'content-length',
  'content-encoding',
  'date',
  'server',
  'host',
  // Headers that affect all pages of Posthorn's host, not only this response.
  'set-cookie',
  'set-cookie2',
  'alt-svc',
  'strict-transport-security',
  'public-key-pins',
  'clear-site-data',
  'service-worker-allowed',
  'nel',
  'report-to',
  // Headers that `PROTECTION` below sets.
  'content-security-policy',
  'x-content-type-options',
]);

/**
 * Headers that must not contain request values, because a sender could redirect the browser or change the body's type.
 */
const STATIC_NAMES: ReadonlySet<string> = new Set(['content-type', 'location', 'refresh', 'link']);

/** Prevents a browser from executing echoed content in Posthorn's origin. */
const PROTECTION = { 'x-content-type-options': 'nosniff', 'content-security-policy': 'sandbox' } as const;

/**
 * Compiles a configured response `{status, body, headers}`, in which every field is optional. If it is invalid, adds
 * faults and returns null.
 */
export function compileAnswer(value: unknown, at: string, faults: Faults): AnswerTemplate | null {
  const before = faults.list.length;
  const respond = faults.object(value, at, ['status', 'body', 'headers']);
  if (respond === null) return null;
  const status = statusOf(respond.status, `${at}.status`, faults);
  const body = respond.body === undefined ? '' : faults.text(respond.body, `${at}.body`, BODY_BYTES_MAX);
  const headers = compileHeaders(respond.headers ?? {}, `${at}.headers`, faults);
  if (body === null || headers === null) return null;
  const type = contentType(headers.type, body, `${at}.headers.content-type`, faults);
  if (body !== '' && BODILESS.has(status)) faults.add(`${at}.body`, `must be empty with status ${status}`);
  const template = compileTemplate(body, `${at}.body`, faults, type.encoding ?? 'plain');
  const places = headers.templates.reduce((sum, [, header]) => sum + header.places, template?.places ?? 0);
  if (places > PLACES_MAX) faults.add(at, `has too many placeholders: at most ${PLACES_MAX}`);
  if (type.encoding === null && (template?.places ?? 0) > 0) {
    faults.add(`${at}.body`, 'can only hold {{…}} in an answer of JSON, HTML, XML, text/plain or a form');
  }
  if (template === null || faults.list.length > before) return null;
  return {
    of: (view) => ({
      status,
      headers: renderedHeaders(headers, type.header, view),
      body: template.render(view, BODY_BYTES_MAX),
    }),
  };
}

interface Headers {
  type: string | null;
  templates: readonly (readonly [name: string, value: Template])[];
}

function statusOf(value: unknown, at: string, faults: Faults): number {
  if (value === undefined) return STATUS_DEFAULT;
  if (Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599) return Number(value);
  faults.add(at, 'must be a whole number from 200 to 599');
  return STATUS_DEFAULT;
}

function compileHeaders(value: unknown, at: string, faults: Faults): Headers | null {
  if (!isObject(value) || Object.keys(value).length > HEADERS_MAX) {
    faults.add(at, `must be an object of at most ${HEADERS_MAX} headers`);
    return null;
  }
  const seen = new Set<string>();
  const templates: [string, Template][] = [];
  let type: string | null = null;
  for (const [name, text] of Object.entries(value)) {
    const lowerName = name.toLowerCase();
    const path = `${at}.${name.slice(0, 100)}`;
    const message = seen.has(lowerName)
      ? 'The same name occurs twice.'
      : (nameFault(name, lowerName) ?? valueFault(lowerName, text));
    seen.add(lowerName);
    if (message !== null) {
      faults.add(path, message);
    } else if (lowerName === 'content-type') {
      type = String(text);
    } else {
      const template = compileTemplate(String(text), path, faults, 'header');
      if (template) templates.push([lowerName, template]);
    }
  }
  return { type, templates };
}

function nameFault(name: string, lowerName: string): string | null {
  if (!TOKEN.test(name) || name.length > 256) return "A header name consists of letters, digits and !#$%&'*+-.^_`|~.";
  const isOurs = FORBIDDEN_NAMES.has(lowerName) || lowerName.startsWith('proxy-') || lowerName.startsWith(':');
  return isOurs ? "This header is set by the service or by the connection and can't be part of an answer." : null;
}

function valueFault(lowerName: string, value: unknown): string | null {
  if (typeof value !== 'string' || value.length > HEADER_BYTES_MAX)
    return `A header value is a string of at most ${HEADER_BYTES_MAX} bytes.`;
  if (!FIELD_VALUE.test(value)) return 'A header value consists of visible Latin-1 characters, spaces and tabs.';
  if (value !== value.trim()) return 'A header value neither starts nor ends with a space or a tab.';
  return STATIC_NAMES.has(lowerName) && value.includes('{{')
    ? "This header can't be filled in from the request."
    : null;
}

/**
 * Returns the content type to send, and the encoding of placeholder values in the body. The encoding is null if no
 * encoding is safe for the type.
 */
function contentType(
  given: string | null,
  body: string,
  at: string,
  faults: Faults,
): { header: string | null; encoding: Encoding | null } {
  if (given === null) {
    if (body === '') return { header: null, encoding: 'plain' };
    return /^\s*(?:\[|\{(?!\{))/.test(body)
      ? { header: 'application/json', encoding: 'json' }
      : { header: 'text/plain; charset=utf-8', encoding: 'plain' };
  }
  const [mediaType = '', ...parameters] = given
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const type = mediaType.toLowerCase();
  const parts = type.split('/');
  if (parts.length !== 2 || !parts.every((part) => TOKEN.test(part)))
    faults.add(at, 'must be a media type like application/json');
  const charset = parameters
    .map((parameter) => /^charset\s*=\s*"?([^"]*)"?$/i.exec(parameter)?.[1])
    .find((name) => name !== undefined);
  // Responses are sent in UTF-8. With another charset, the browser would decode escaped characters as other characters.
  if (charset !== undefined && charset.toLowerCase() !== 'utf-8')
    faults.add(at, 'must have charset utf-8, because answers are sent in UTF-8');
  const encoding = encodingOf(type);
  const needsCharset = charset === undefined && (type.startsWith('text/') || encoding === 'markup');
  return { header: needsCharset ? [mediaType, ...parameters, 'charset=utf-8'].join('; ') : given, encoding };
}

function encodingOf(type: string): Encoding | null {
  if (/^(?:application|text)\/json$|\+json$/.test(type)) return 'json';
  if (/^text\/html$|\/xml$|\+xml$/.test(type)) return 'markup';
  if (type === 'application/x-www-form-urlencoded') return 'form';
  return type === 'text/plain' ? 'plain' : null;
}

function renderedHeaders({ templates }: Headers, type: string | null, view: RequestView): Record<string, string> {
  const headers = templates.map(([name, template]) => [name, template.render(view, HEADER_BYTES_MAX).trim()] as const);
  const own = type === null ? [] : [['content-type', type] as const];
  // Uses `fromEntries`, because an assignment to the name `__proto__` would set the object's prototype.
  return Object.fromEntries([...headers, ...own, ...(type === null ? [] : Object.entries(PROTECTION))]);
}
