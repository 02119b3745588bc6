import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { RuledRetryPolicy } from '#engine/outcome.js';
import { DEFAULT_RETRY_POLICY } from '#engine/retry.js';
import { Clock } from '#kernel/clock.js';
import type { Fault } from '#kernel/errors.js';
import { providersExtending } from '#kernel/extension-points.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { NamedRetryPolicy } from '#modules/destinations/retry-policies.contract.js';
import type { RetrySettings } from './destinations.entities.js';
import { retryPolicy } from './settings.js';
import { supervised } from './supervised-retry-policy.js';

/** Resolves a destination's `retry` settings, which contain numbers or the name of an extension's retry policy. */
@Injectable()
export class RetryPolicies implements OnModuleInit {
  private readonly logger = new Logger('Extensions');
  private readonly named = new Map<string, RuledRetryPolicy>();
  private readonly missed = new Set<string>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
  ) {}

  /** Throws if a policy is invalid, or if two policies have the same name. Posthorn then does not start. */
  onModuleInit(): void {
    const policies = providersExtending(this.discovery, NamedRetryPolicy);
    if (policies.length === 0) return;
    const failures = this.metrics.counter(
      'retry_policy_failures_total',
      'Decisions of a retry policy that were invalid or failed, so that its schedule applied.',
      ['policy'],
    );
    for (const policy of policies) {
      const { name } = policy;
      if (this.named.has(name))
        throw new Error(
          `Two retry policies are named "${name}", one of them is ${policy.constructor.name}. Remove one.`,
        );
      this.named.set(
        name,
        supervised(policy, { elapsedMs: () => this.clock.monotonicMs(), failed: () => failures.inc({ policy: name }) }),
      );
    }
  }

  /** Returns the retry policy for the settings. If the named policy is not loaded, returns the default policy. */
  forSettings(retry: RetrySettings | null): RuledRetryPolicy {
    const name = retry?.policy;
    return name === undefined ? retryPolicy(retry) : (this.named.get(name) ?? this.missing(name));
  }

  /** Returns the reason why a named policy is not loaded. `null` if it is loaded, or if the settings name no policy. */
  absence(retry: RetrySettings | null): string | null {
    const name = retry?.policy;
    return name === undefined || this.named.has(name) ? null : absenceOf(name);
  }

  faults({ policy }: RetrySettings): Fault[] {
    if (policy === undefined || this.named.has(policy)) return [];
    const known = [...this.named.keys()].sort();
    const message =
      known.length === 0
        ? 'is not known: no loaded extension provides a retry policy'
        : `must be one of ${known.join(', ')}`;
    return [{ path: 'retry.policy', message }];
  }

  private missing(name: string): RuledRetryPolicy {
    if (!this.missed.has(name)) this.logger.warn(absenceOf(name));
    this.missed.add(name);
    return DEFAULT_RETRY_POLICY;
  }
}

function absenceOf(name: string): string {
  return `Nothing brings the retry policy ${name} here: the extension that did is not loaded, and the default schedule holds.`;
}
