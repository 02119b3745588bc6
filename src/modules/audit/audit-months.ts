import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { retryUntilAvailable } from '#kernel/database/retry-until-available.js';
import { AuditStore } from './audit.store.js';

const EVERY_MS = 6 * 3_600_000;

/** Creates the monthly partitions of the audit log in advance, and drops those older than AUDIT_RETENTION_DAYS. */
@Injectable()
export class AuditMonths implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('AuditLog');
  private readonly loop: Loop;

  constructor(
    private readonly store: AuditStore,
    private readonly config: Config,
    private readonly gate: RetentionGate,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'AuditMonths',
      () => this.turn(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  async onApplicationBootstrap(): Promise<void> {
    // Runs before any request is served, because a partition cannot be created inside a request's transaction.
    await retryUntilAvailable(() => this.store.ensurePartitions());
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async turn(): Promise<{ restMs: number }> {
    await this.store.ensurePartitions();
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    const dropped = await this.store.dropExpired(this.config.auditRetentionDays);
    if (dropped.length > 0)
      this.logger.log(`Dropped ${dropped.join(', ')}: older than ${this.config.auditRetentionDays} days.`);
    return { restMs: EVERY_MS };
  }
}
