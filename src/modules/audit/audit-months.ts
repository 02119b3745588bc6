import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import type { LoopDelay } from '#kernel/concurrency/loop.js';
import { Config } from '#kernel/config/config.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { retryUntilAvailable } from '#kernel/database/retry-until-available.js';
import { AuditStore } from './audit.store.js';

const EVERY_MS = 6 * 3_600_000;

/** Creates the monthly partitions of the audit log in advance. Drops partitions older than AUDIT_RETENTION_DAYS. */
@Injectable()
export class AuditMonths implements OnApplicationBootstrap {
  private readonly logger = new Logger('AuditLog');

  constructor(
    private readonly store: AuditStore,
    private readonly config: Config,
    private readonly gate: RetentionGate,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // Runs before the service accepts requests, because a request's transaction cannot create a partition.
    await retryUntilAvailable(() => this.store.ensurePartitions());
  }

  @Every(EVERY_MS, { name: 'Audit months' })
  async maintain(): Promise<LoopDelay> {
    await this.store.ensurePartitions();
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    const dropped = await this.store.dropExpired(this.config.auditRetentionDays);
    if (dropped.length > 0)
      this.logger.log(`Dropped ${dropped.join(', ')}: older than ${this.config.auditRetentionDays} days.`);
    return { restMs: EVERY_MS };
  }
}
