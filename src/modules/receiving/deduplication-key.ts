import { hash } from 'node:crypto';
import { RequestView } from '#engine/conditions/request-view.js';
import { dedupeIdOf } from '#engine/inbound/classify.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import { unpacked } from '#engine/inbound/unpacked.js';
import type { IdempotentRequest } from '#kernel/idempotency.js';
import { showId } from '#kernel/ids.js';
import type { LiveEndpoint } from './live-endpoint.js';

/** The id that a raw request is shown with: what the endpoint tells repeats by, else what its preset's provider calls one. */
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
 * The key under which the first request with an id keeps its answer: of one endpoint, and of what it tells repeats by now. An id may be
 * of any length and anybody's choice, so that the key is made of its digest.
 */
export function repeatKey({ environmentId, id, deduplication }: LiveEndpoint, dedupeId: string): IdempotentRequest {
  const fingerprint = hash('sha256', JSON.stringify([deduplication?.scope, dedupeId]), 'buffer');
  return { environmentId, route: `repeats ${showId('ep', id)}`, key: uuid(fingerprint), fingerprint };
}

/** Of the first sixteen bytes (RFC 9562, version 8). */
function uuid(bytes: Buffer): string {
  const own = Buffer.from(bytes.subarray(0, 16));
  own[6] = 0x80 | ((own[6] ?? 0) & 0x0f);
  own[8] = 0x80 | ((own[8] ?? 0) & 0x3f);
  return own.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
