import { Injectable } from '@nestjs/common';
import { AccessRules } from '#http/access-rules.js';
import { CallerQuotas, quotaRefusal } from '#http/caller-quotas.js';
import { clientNetwork } from '#http/client-network.js';
import { type Counted, MemoryRateLimiter } from '#http/rate-limiter.js';
import { Authenticator } from '#kernel/authenticator.js';
import { Clock } from '#kernel/clock.js';
import { ApiError } from '#kernel/errors.js';
import type { Caller } from '#kernel/tenant.js';

/**
 * Number of failed logins per client network and period. Above it, a failed login is reported as `rate_limited`. Keys
 * are still checked, so that a valid key is accepted. Each process counts separately.
 */
const FAILURES = { count: 30, periodMs: 60_000 };
const ADDRESSES_MAX = 10_000;

const NO_KEY = 'The password must be a valid API key. This one is unknown, expired or revoked.';

/** Checks the API key that a mail client sends as its password, with the access rules and quotas of the HTTP API. */
@Injectable()
export class SubmissionLogin {
  private readonly failures: MemoryRateLimiter;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly access: AccessRules,
    private readonly quotas: CallerQuotas,
    clock: Clock,
  ) {
    this.failures = new MemoryRateLimiter(() => clock.nowMs(), ADDRESSES_MAX);
  }

  /**
   * Returns the caller that a key belongs to. Throws `unauthenticated`, `insufficient_scope`, or 503 while storage is
   * unavailable. After too many failed logins from the client's network, throws 429 for an invalid key. A valid key is
   * always accepted.
   */
  async check(key: string, from: string): Promise<Caller> {
    const caller =
      key.length > this.authenticator.bearerLengthMax ? null : await this.authenticator.authenticate(key, from);
    const refused = caller === null ? this.failed(from) : this.access.refusal('write', { caller, isOperator: false });
    if (caller === null || refused !== undefined) throw refused ?? new ApiError('unauthenticated', NO_KEY);
    return caller;
  }

  /**
   * Checks the key again, counts the message toward the quotas and returns the caller. Throws the errors of `check`,
   * and 429 if a quota is exceeded.
   */
  async admit(key: string, from: string): Promise<Caller> {
    const caller = await this.check(key, from);
    const verdict = await this.quotas.count({ caller, ip: from });
    const refused = verdict === null ? undefined : quotaRefusal(verdict);
    if (refused !== undefined) throw refused;
    return caller;
  }

  private failed(from: string): ApiError {
    const counted: Counted = { id: clientNetwork(from), quota: FAILURES };
    const { allowed, retryAfterSeconds } = this.failures.count(counted.id, [counted]);
    if (allowed) return new ApiError('unauthenticated', NO_KEY);
    return new ApiError(
      'rate_limited',
      `Too many failed logins from this address, this one included. A valid key is accepted at any time.`,
      {},
      retryAfterSeconds,
    );
  }
}
