import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { CLAIM_SECONDS, DomainChecks } from './domain-checks.js';
import { DomainsMetrics } from './domains.metrics.js';
import { CHECK_IN_MS, type DomainPlace, DomainsStore } from './domains.store.js';

const REST_MS = 2_000;
/** Maximum number of domains that one run checks. The checks run concurrently. */
const TURN_MAX = 48;
/** Maximum number of domains of one environment that a run checks. */
const TURN_OF_ONE_MAX = 6;

/** Checks domains whose next check is due. */
@Injectable()
export class RecheckLoop {
  constructor(
    private readonly store: DomainsStore,
    private readonly checks: DomainChecks,
    private readonly metrics: DomainsMetrics,
  ) {}

  @Every(REST_MS, { name: 'Domain checks', runsOn: 'worker', dueWork: { name: 'domains', inMs: CHECK_IN_MS } })
  async checkDue(): Promise<LoopDelay | undefined> {
    const due = await this.store.claimDue(CLAIM_SECONDS, TURN_MAX, TURN_OF_ONE_MAX);
    const failures = (await Promise.all(due.map((place) => this.check(place)))).filter((error) => error !== null);
    // The scheduler logs the error and waits longer before the next run. Failed domains become due again in any case.
    if (failures.length > 0) throw failures[0] as Error;
    return due.length === TURN_MAX ? { restMs: 0 } : undefined;
  }

  private async check(place: DomainPlace): Promise<unknown> {
    try {
      this.metrics.checked(await this.checks.run(place, false));
      return null;
    } catch (error) {
      this.metrics.checked('error');
      return error;
    }
  }
}
