import { Buffer } from 'node:buffer';
import { createPublicKey, createVerify } from 'node:crypto';
import { jsonOf, memberOf } from './body.js';
import { decodeBase64, equalText } from './keys.js';
import type { ReceivedRequest } from './request.js';

type Received = Pick<ReceivedRequest, 'body'>;

/**
 * Pattern of SNS hosts, as in AWS's own validator. With a wider pattern, an attacker could serve a forged certificate.
 */
const HOST = /^sns\.[a-zA-Z0-9-]{3,}\.amazonaws\.com(?:\.cn)?$/;
const URL_LENGTH_MAX = 2048;
const SIGNED_OF_NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const;
const SIGNED_OF_CONFIRMATION = [
  'Message',
  'MessageId',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
] as const;
const HASHES: ReadonlyMap<unknown, string> = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);

/**
 * Returns whether the message has a topic of `topicArns` and is signed by the key in `certificate` (PEM from
 * `snsCertificateUrl`). The topic must be checked, because any AWS account can send signed messages.
 */
export function verifySns(request: Received, topicArns: readonly string[], certificate: string | undefined): boolean {
  const message = jsonOf(request);
  const hash = HASHES.get(memberOf(message, 'SignatureVersion'));
  const signature = decodeBase64(textOf(message, 'Signature'));
  const content = signedContent(message);
  if (hash === undefined || signature === null || content === null || certificate === undefined) return false;
  if (snsCertificateUrl(request) === null) return false;
  if (!isOfTopic(request, topicArns)) return false;
  return createVerify(hash).update(content).verify(createPublicKey(certificate), signature);
}

/** Returns whether the message names an accepted topic. Call this before fetching anything for the message. */
export function isOfTopic(request: Received, topicArns: readonly string[]): boolean {
  const topic = textOf(jsonOf(request), 'TopicArn');
  return topicArns.some((arn) => equalText(topic, arn));
}

/** Returns the URL of the signing certificate, or null if it is not on an SNS host. */
export function snsCertificateUrl(request: Received): string | null {
  const url = urlOfSns(textOf(jsonOf(request), 'SigningCertURL'));
  return url?.pathname.endsWith('.pem') === true && url.search === '' ? url.toString() : null;
}

/** Returns the URL that confirms a subscription, or null if the message has none on an SNS host. */
export function snsConfirmUrl(request: Received): string | null {
  const url = urlOfSns(textOf(jsonOf(request), 'SubscribeURL'));
  return url?.searchParams.get('Action') === 'ConfirmSubscription' ? url.toString() : null;
}

function urlOfSns(text: string): URL | null {
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isPlain = url.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  return isPlain && HOST.test(url.hostname) ? url : null;
}

function signedContent(message: unknown): Buffer | null {
  const type = textOf(message, 'Type');
  const names =
    type === 'Notification'
      ? SIGNED_OF_NOTIFICATION
      : type === 'SubscriptionConfirmation' || type === 'UnsubscribeConfirmation'
        ? SIGNED_OF_CONFIRMATION
        : null;
  if (names === null) return null;
  let content = '';
  for (const name of names) {
    const value = memberOf(message, name) ?? undefined;
    if (value === undefined && name === 'Subject') continue;
    if (typeof value !== 'string') return null;
    content += `${name}\n${value}\n`;
  }
  return Buffer.from(content, 'utf8');
}

function textOf(message: unknown, name: string): string {
  const value = memberOf(message, name);
  return typeof value === 'string' ? value : '';
}
