import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { EgressGate } from '#egress/gate.js';
import { DEFAULT_CIRCUIT_POLICY } from '#engine/circuit.js';
import { DEFAULT_FORWARDING } from '#engine/inbound/forwarded-url.js';
import { DEFAULT_RETRY_POLICY } from '#engine/retry.js';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import { invalid } from '#kernel/errors.js';
import { type Id, idFromBytes } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import type { Target } from '#modules/destinations/contract.js';
import { DEFAULT_SETTINGS } from './settings.js';

const ENTRIES_MAX = 10_000;

/**
 * Builds the targets for ad-hoc URLs, which are not stored as destinations. They use default settings and the
 * environment's signing secret.
 */
@Injectable()
export class AdHocTargets {
  private readonly cache: Cache<Target>;

  constructor(
    private readonly gate: EgressGate,
    private readonly environments: Environments,
    notifications: Notifications,
    clock: Clock,
  ) {
    this.cache = new Cache((key) => this.load(key), { entriesMax: ENTRIES_MAX, nowMs: () => clock.nowMs() });
    // Clears the whole cache. Environments rarely change their signing secret, so searching for the URLs of one
    // environment is not worthwhile.
    notifications.on('environment', () => this.cache.clear());
  }

  /** Returns the target of an ad-hoc URL. Throws 422 if sending to the URL is not allowed. */
  async forUrl(environmentId: number, url: string): Promise<Target> {
    const target = await this.cache.get(`${environmentId}:${url}`);
    // The keys are read on every call, because a rotation's grace period ends without a notification. `signingKeys`
    // returns the identical array until the keys change, so comparing the references is enough.
    const signingKeys = await this.environments.signingKeys(environmentId);
    return signingKeys === target.signingKeys ? target : { ...target, signingKeys };
  }

  private async load(key: string): Promise<Target> {
    const colon = key.indexOf(':');
    const environmentId = Number(key.slice(0, colon));
    const verdict = this.gate.check(key.slice(colon + 1));
    if (!verdict.ok) throw invalid([{ path: 'destination', message: verdict.reason, check: verdict.check }]);
    return {
      environmentId,
      targetId: adHocTargetId(environmentId, verdict.url),
      destinationId: null,
      ownerId: null,
      type: 'https',
      url: verdict.url,
      config: {},
      credentials: null,
      status: 'active',
      disabledReason: null,
      signingKeys: await this.environments.signingKeys(environmentId),
      privateKeys: [],
      legacySignature: null,
      headers: {},
      forward: DEFAULT_FORWARDING,
      retry: DEFAULT_RETRY_POLICY,
      ratePerSecond: null,
      concurrency: null,
      timeoutMs: DEFAULT_SETTINGS.timeoutMs,
      failureThreshold: DEFAULT_CIRCUIT_POLICY.failureThreshold,
    };
  }
}

/**
 * Returns the target id of an ad-hoc URL, which is the same on every node. The circuit breaker and the concurrency
 * limit of the URL are stored by this id.
 *
 * The id is a version 8 UUID (RFC 9562, section 5.8) computed with SHA-256. It differs from the ids of stored
 * destinations, because those are ULIDs of this century.
 */
export function adHocTargetId(environmentId: number, url: URL): Id {
  const bytes = createHash('sha256').update(`${environmentId}|${url.href}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return idFromBytes(bytes);
}
