import { Buffer } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import { formOf, isForm, PARSED_BYTES_MAX } from './body.js';
import { decodeHex, decodeSignature, DIGEST_BYTES, equalBytes } from './keys.js';
import { headerOf, type ReceivedRequest } from './request.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body' | 'url'>;

const HEADER = 'x-twilio-signature';
const URL_PARTS = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)(.*)$/is;
const PORT = /:\d*$/;

/**
 * Verifies Twilio, which signs the URL and the form, or only a URL that contains the hash of the body. The signed
 * spelling of the URL depends on Twilio's back end. Accepts every spelling that Twilio's own library accepts: with and
 * without the port, as received and normalized.
 */
export function verifyTwilio(request: Received, secrets: readonly string[]): boolean {
  const signature = decodeSignature(headerOf(request, HEADER) ?? '', 'base64', DIGEST_BYTES.sha1);
  const fields = signedFields(request);
  if (signature === null || fields === null) return false;
  const urls = spellings(request.url);
  return secrets.some((secret) => urls.some((url) => equalBytes(signature, digest(secret, url + fields))));
}

export function signTwilio(request: Received, secret: string): string {
  return digest(secret, request.url + (signedFields(request) ?? '')).toString('base64');
}

function digest(secret: string, content: string): Buffer {
  return createHmac('sha1', secret).update(content, 'utf8').digest();
}

/** Returns the form fields in the form that Twilio signs. Null if the signature would not cover the body. */
function signedFields(request: Received): string | null {
  const hash = bodyHash(request.url);
  if (hash !== null) {
    const given = decodeHex(hash);
    return given !== null && equalBytes(given, createHash('sha256').update(request.body).digest()) ? '' : null;
  }
  if (request.body.length > 0 && !isForm(request)) return null;
  // Rejects a larger form: its fields are not parsed, so the signature would not cover them.
  if (request.body.length > PARSED_BYTES_MAX) return null;
  const form = formOf(request);
  const names = [...new Set(form.keys())].sort();
  return names
    .map((name) =>
      [...new Set(form.getAll(name))]
        .sort()
        .map((value) => name + value)
        .join(''),
    )
    .join('');
}

function bodyHash(url: string): string | null {
  return URL.canParse(url) ? new URL(url).searchParams.get('bodySHA256') : null;
}

function spellings(url: string): string[] {
  const received = [withoutPort(url), withPort(url)];
  if (!URL.canParse(url)) return received;
  const normal = new URL(url).toString();
  const normals = [withoutPort(normal), withPort(normal)];
  return [...new Set([...received, ...normals, ...normals.map(withEscapedQuery)])];
}

function withoutPort(url: string): string {
  return url.replace(
    URL_PARTS,
    (_, scheme: string, authority: string, rest: string) => scheme + authority.replace(PORT, '') + rest,
  );
}

function withPort(url: string): string {
  return url.replace(URL_PARTS, (_, scheme: string, authority: string, rest: string) => {
    const port = scheme.toLowerCase() === 'https://' ? ':443' : ':80';
    return scheme + (PORT.test(authority) ? authority : authority + port) + rest;
  });
}

/**
 * Returns the URL with its query encoded by the rules of Node's `querystring`. Some of Twilio's back ends sign this
 * form.
 */
function withEscapedQuery(url: string): string {
  const start = url.indexOf('?');
  if (start === -1) return url;
  const pairs = [...new URLSearchParams(url.slice(start + 1))];
  return `${url.slice(0, start)}?${pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')}`;
}
