import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import { HOUSEKEEPING, Loop, type LoopDelay } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { CLAIM_SECONDS, DomainChecks } from './domain-checks.js';
import { DomainsMetrics } from './domains.metrics.js';
import { CHECK_IN_MS, type DomainPlace, DomainsStore } from './domains.store.js';

const REST_MS = 2_000;
/** They are checked concurrently, each within ten seconds. */
const TURN_MAX = 48;
const TURN_OF_ONE_MAX = 6;

/** Checks domains when they are due, in every process that delivers. */
@Injectable()
export class RecheckLoop implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly store: DomainsStore,
    private readonly checks: DomainChecks,
    private readonly metrics: DomainsMetrics,
    private readonly config: Config,
    private readonly dueWork: DueWorkPoller,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'Domain checks',
      () => this.turn(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    if (!this.config.isWorker) return;
    this.loop.start();
    this.dueWork.register({ name: 'domains', inMs: CHECK_IN_MS, wake: () => this.loop.wake() });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async turn(): Promise<LoopDelay> {
    const due = await this.store.claimDue(CLAIM_SECONDS, TURN_MAX, TURN_OF_ONE_MAX);
    const failures = (await Promise.all(due.map((place) => this.check(place)))).filter((error) => error !== null);
    // One failure is logged, with the loop's backoff. Each domain that could not be checked is due again by itself.
    if (failures.length > 0) throw failures[0] as Error;
    return { restMs: due.length === TURN_MAX ? 0 : this.dueWork.restMs(REST_MS) };
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
