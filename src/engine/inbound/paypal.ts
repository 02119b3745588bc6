import { Buffer } from 'node:buffer';
import { createVerify, X509Certificate } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { decodeBase64 } from './keys.js';
import { headerOf, type ReceivedRequest } from './request.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Exact host names of PayPal's certificates. With a wider pattern, an attacker could serve a forged certificate. */
const HOSTS: ReadonlySet<string> = new Set([
  'api.paypal.com',
  'api-m.paypal.com',
  'api.sandbox.paypal.com',
  'api-m.sandbox.paypal.com',
]);
const CERTIFICATE_PATH = /^\/v1\/notifications\/certs\/CERT-[A-Za-z0-9-]{1,64}$/;
const URL_LENGTH_MAX = 512;
/** Subject of PayPal's message-signing certificate. PayPal's own libraries also require it. */
const SUBJECT = /^CN=messageverificationcerts(?:\.[a-z0-9-]+)*\.paypal\.com$/m;
const ALGORITHM = 'SHA256withRSA';

export const PAYPAL_HEADERS = [
  'paypal-transmission-id',
  'paypal-transmission-time',
  'paypal-transmission-sig',
  'paypal-cert-url',
  'paypal-auth-algo',
] as const;

/** Verifies PayPal's signature, which must cover the webhook id. `certificate`: PEM from `paypalCertificateUrl`. */
export function verifyPaypal(
  request: Received,
  webhookIds: readonly string[],
  nowMs: number,
  certificate: string | undefined,
): boolean {
  const [id, time, signature, , algorithm] = PAYPAL_HEADERS.map((name) => headerOf(request, name) ?? '');
  const bytes = decodeBase64(signature ?? '');
  if (
    !id ||
    !time ||
    bytes === null ||
    algorithm !== ALGORITHM ||
    certificate === undefined ||
    paypalCertificateUrl(request) === null
  )
    return false;
  const { publicKey, subject, validFrom, validTo } = new X509Certificate(certificate);
  if (!SUBJECT.test(subject) || nowMs < Date.parse(validFrom) || nowMs > Date.parse(validTo)) return false;
  return webhookIds.some((webhookId) =>
    createVerify('RSA-SHA256').update(paypalContent({ id, time, webhookId }, request.body)).verify(publicKey, bytes),
  );
}

/** Returns the signed content: transmission id, time, webhook id, and the CRC-32 of the body in decimal. */
export function paypalContent(
  { id, time, webhookId }: { id: string; time: string; webhookId: string },
  body: Buffer,
): string {
  return `${id}|${time}|${webhookId}|${crc32(body)}`;
}

/** Returns the URL of the signing certificate, or null if it is not on a PayPal host. */
export function paypalCertificateUrl(request: Pick<ReceivedRequest, 'headers'>): string | null {
  const text = headerOf(request, 'paypal-cert-url') ?? '';
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isPlain =
    url.protocol === 'https:' &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  return isPlain && HOSTS.has(url.hostname) && CERTIFICATE_PATH.test(url.pathname) ? url.href : null;
}
