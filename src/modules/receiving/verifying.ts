import { Injectable } from '@nestjs/common';
import { failureReason } from '#engine/inbound/failure-reason.js';
import { hasKeyOf, isKeySet, jwtOf } from '#engine/inbound/jwt.js';
import { isPem } from '#engine/inbound/keys.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import type { CodeScheme } from '#engine/inbound/scheme.js';
import { publishedAt, verify } from '#engine/inbound/verify.js';
import { Clock } from '#kernel/clock.js';
import { unavailable } from '#kernel/errors.js';
import { Certificates } from './certificates.js';
import type { LiveEndpoint } from './live-endpoint.js';

export interface VerificationVerdict {
  verification: Verification;
  /**
   * Reason why the verification failed, without capital letter and full stop, because callers put it at the end of a
   * sentence. `null` if the verification did not fail.
   */
  reason: string | null;
}

/** Minimum time between downloads of a key set. Invented key ids in tokens therefore trigger few downloads. */
const ROTATED_MS = 60_000;
const VERDICT_KEPT = new Set<Verification>(['verified']);

@Injectable()
export class Verifying {
  constructor(
    private readonly certificates: Certificates,
    private readonly clock: Clock,
  ) {}

  /**
   * Verifies a request and returns the verdict. Throws 503 if the published keys, or the code of an extension, are
   * unavailable.
   *
   * `earlier` is the first verdict of a replayed request. If it was a success, it is returned unchanged, because the
   * signature's timestamp is too old by now. If it was a failure, the request is verified again.
   */
  async verify(
    endpoint: LiveEndpoint,
    request: ReceivedRequest,
    secrets: readonly string[],
    earlier: Verification | undefined,
  ): Promise<VerificationVerdict> {
    const { scheme } = endpoint;
    if (earlier !== undefined && VERDICT_KEPT.has(earlier)) return { verification: earlier, reason: null };
    const url = publishedAt(scheme, request, secrets);
    const published = url === null ? undefined : await this.published(url, endpoint, request);
    // Verifies a replayed request with the time at which it was received.
    const atMs = earlier === undefined ? this.clock.nowMs() : (request.receivedAtMs ?? this.clock.nowMs());
    const verification =
      scheme.kind === 'code'
        ? await verifyByCode(scheme, request, secrets, atMs)
        : verify(scheme, request, secrets, atMs, published);
    const reason =
      verification === 'failed' ? failureReason(scheme, request, { secrets, nowMs: atMs, published }) : null;
    return { verification, reason };
  }

  /** Returns the certificate or key set that the provider publishes at the URL. Throws 503 if it is unavailable. */
  private async published(
    url: string,
    { scheme, organizationId, id }: LiveEndpoint,
    request: ReceivedRequest,
  ): Promise<string> {
    const asker = { organizationId, endpointId: id };
    const isUsable = scheme.kind === 'jwt' ? isKeySet : isPem;
    const found = await this.certificates.get(url, asker, isUsable);
    const token = scheme.kind === 'jwt' ? jwtOf(scheme, request) : null;
    // A key that is missing in a cached set may be in the current set, because keys are rotated. The set is then
    // downloaded again. If the download fails, the key's validity is unknown.
    const isOld = found !== undefined && token !== null && !hasKeyOf(token, found.text);
    const latest = isOld ? await this.certificates.get(url, asker, isUsable, ROTATED_MS) : found;
    const isUnknown = isOld && latest !== undefined && latest.ageMs >= ROTATED_MS && !hasKeyOf(token, latest.text);
    if (latest === undefined || isUnknown)
      throw unavailable('The key material for the signature is not available right now. Send it again.');
    return latest.text;
  }
}

async function verifyByCode(
  scheme: CodeScheme,
  request: ReceivedRequest,
  secrets: readonly string[],
  nowMs: number,
): Promise<Verification> {
  const usable = secrets.filter((secret) => secret !== '');
  return usable.length > 0 && (await scheme.verify(request, usable, nowMs)) ? 'verified' : 'failed';
}
