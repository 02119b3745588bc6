import { hash } from 'node:crypto';
import { RequestView } from '#engine/conditions/request-view.js';
import { dedupeIdOf } from '#engine/inbound/classify.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import { unpacked } from '#engine/inbound/unpacked.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import { showId } from '#kernel/ids.js';
import type { LiveEndpoint } from './live-endpoint.js';

/**
 * Returns the id by which the endpoint detects duplicates. Without deduplication, returns the provider's id according
 * to the preset.
 */
export function shownIdOf(
  { deduplication, preset }: LiveEndpoint,
  request: ReceivedRequest,
  verification: Verification,
): string | null {
  return deduplication === null
    ? dedupeIdOf(preset, unpacked(request))
    : deduplication.idOf(new RequestView(request, verification));
}

/**
 * Returns the deduplication key of an id for this endpoint and its deduplication source. The key is a digest, because
 * ids can have any length.
 */
export function repeatKey({ environmentId, id, deduplication }: LiveEndpoint, dedupeId: string): IdempotentRequest {
  const fingerprint = hash('sha256', JSON.stringify([deduplication?.scope, dedupeId]), 'buffer');
  return { environmentId, route: `repeats ${showId('ep', id)}`, key: uuid(fingerprint), fingerprint };
}

/** Returns a version 8 UUID (RFC 9562) built from the first sixteen of `bytes`. */
function uuid(bytes: Buffer): string {
  const own = Buffer.from(bytes.subarray(0, 16));
  own[6] = 0x80 | ((own[6] ?? 0) & 0x0f);
  own[8] = 0x80 | ((own[8] ?? 0) & 0x3f);
  return own.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
