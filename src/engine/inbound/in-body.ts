import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { isObject, jsonOf, memberOf, scalarText } from './body.js';
import { decodeKey, decodeSignature, DIGEST_BYTES, equalBytes, equalText } from './keys.js';
import type { ReceivedRequest } from './request.js';
import { readFirst } from './source.js';

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

/** Members that Adyen signs, in this order, joined by colons. */
const ADYEN_FIELDS = [
  'pspReference',
  'originalReference',
  'merchantAccountCode',
  'merchantReference',
  'amount.value',
  'amount.currency',
  'eventCode',
  'success',
] as const;

/** Verifies Mailgun, which signs only the timestamp and the token. The token is also the deduplication id. */
export function verifyMailgun(request: Received, secrets: readonly string[]): boolean {
  const [timestamp, token, presented] = ['timestamp', 'token', 'signature'].map((name) =>
    readFirst([[{ member: `signature.${name}` }], [{ field: name }]], request, ''),
  );
  const signature = presented === undefined ? null : decodeSignature(presented, 'hex', DIGEST_BYTES.sha256);
  if (timestamp === undefined || token === undefined || signature === null) return false;
  return secrets.some((secret) => equalBytes(signature, mailgunSignature(secret, timestamp, token)));
}

export function mailgunSignature(secret: string, timestamp: string, token: string): Buffer {
  return createHmac('sha256', secret)
    .update(timestamp + token, 'utf8')
    .digest();
}

/** Verifies Adyen. Every item must have a valid signature, because every item becomes part of the event. */
export function verifyAdyen(request: Received, secrets: readonly string[]): boolean {
  const items = memberOf(jsonOf(request), 'notificationItems');
  if (!Array.isArray(items) || items.length === 0) return false;
  return secrets.some((secret) =>
    items.every((item) => adyenItemHolds(memberOf(item, 'NotificationRequestItem'), secret)),
  );
}

/** Returns the signature of an item. Null if the item cannot be signed or the secret is not hex. */
export function adyenSignature(item: unknown, secret: string): Buffer | null {
  const key = decodeKey(secret, 'hex');
  if (key === null || !isObject(item)) return null;
  const values = ADYEN_FIELDS.map((path) => memberOf(item, path) ?? '').map(scalarText);
  // Rejects a value that is neither text nor number, because its signed spelling could differ from the spelling that is
  // read.
  return values.includes(undefined) ? null : createHmac('sha256', key).update(values.join(':'), 'utf8').digest();
}

/** Verifies Microsoft Graph: every notification must contain the `clientState` of its subscription. */
export function verifyClientState(request: Received, secrets: readonly string[]): boolean {
  const items = memberOf(jsonOf(request), 'value');
  if (!Array.isArray(items) || items.length === 0) return false;
  return items.every((item) => {
    const state = memberOf(item, 'clientState');
    return typeof state === 'string' && secrets.some((secret) => equalText(state, secret));
  });
}

function adyenItemHolds(item: unknown, secret: string): boolean {
  const presented = memberOf(item, 'additionalData.hmacSignature');
  const signature = typeof presented === 'string' ? decodeSignature(presented, 'base64', DIGEST_BYTES.sha256) : null;
  const expected = signature === null ? null : adyenSignature(item, secret);
  return signature !== null && expected !== null && equalBytes(signature, expected);
}
