import { Injectable } from '@nestjs/common';
import { failureReason } from '#engine/inbound/failure-reason.js';
import { hasKeyOf, isKeySet, jwtOf } from '#engine/inbound/jwt.js';
import type { ReceivedRequest, Verification } from '#engine/inbound/request.js';
import { isCertificate, publishedAt, verify } from '#engine/inbound/verify.js';
import { Clock } from '#kernel/clock.js';
import { unavailable } from '#kernel/errors.js';
import { Environments } from '#modules/auth/contract.js';
import { Certificates } from './certificates.js';
import type { LiveEndpoint } from './live-endpoint.js';

/** A verdict, and why it is a bad one. */
export interface VerificationVerdict {
  verification: Verification;
  /** The end of a sentence; null unless it failed. */
  reason: string | null;
}

/** A set of keys is looked for again so often at most: what tokens name must not make us fetch. */
const ROTATED_MS = 60_000;
const VERDICT_KEPT = new Set<Verification>(['verified']);

/** Finds out whether a request is from its endpoint's provider. */
@Injectable()
export class Verifying {
  constructor(
    private readonly certificates: Certificates,
    private readonly environments: Environments,
    private readonly clock: Clock,
  ) {}

  /**
   * A repeated request keeps a good verdict (`earlier`): its timestamp is too old by now. One that failed may hold with
   * today's secret. Throws 503 when what the signature is checked against can't be had right now.
   */
  async verify(
    endpoint: LiveEndpoint,
    request: ReceivedRequest,
    secrets: readonly string[],
    earlier: Verification | undefined,
  ): Promise<VerificationVerdict> {
    const { scheme } = endpoint;
    if (earlier !== undefined && VERDICT_KEPT.has(earlier)) return { verification: earlier, reason: null };
    const published = await this.published(endpoint, request, secrets);
    // A repeated request is checked as of when it came.
    const atMs = earlier === undefined ? this.clock.nowMs() : (request.receivedAtMs ?? this.clock.nowMs());
    const verification = verify(scheme, request, secrets, atMs, published);
    const reason =
      verification === 'failed' ? failureReason(scheme, request, { secrets, nowMs: atMs, published }) : null;
    return { verification, reason };
  }

  /** What the signature is checked against: a certificate or a set of keys, where the scheme has them published. */
  private async published(
    { scheme, environmentId, id }: LiveEndpoint,
    request: ReceivedRequest,
    secrets: readonly string[],
  ): Promise<string | undefined> {
    const url = publishedAt(scheme, request, secrets);
    if (url === null) return undefined;
    const { organizationId } = await this.environments.get(environmentId);
    const asker = { organizationId, endpointId: id };
    const isUsable = scheme.kind === 'jwt' ? isKeySet : isCertificate;
    const found = await this.certificates.get(url, asker, isUsable);
    const token = scheme.kind === 'jwt' ? jwtOf(scheme, request) : null;
    // Keys are rotated: one that is not in the set of the last hour may be in that of now. Who could not look knows nothing of it.
    const isOld = found !== undefined && token !== null && !hasKeyOf(token, found.text);
    const latest = isOld ? await this.certificates.get(url, asker, isUsable, ROTATED_MS) : found;
    const isUnknown = isOld && latest !== undefined && latest.ageMs >= ROTATED_MS && !hasKeyOf(token, latest.text);
    if (latest === undefined || isUnknown)
      throw unavailable("What the signature is checked against can't be had right now. Send it again.");
    return latest.text;
  }
}
