import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { PortalSessionsStore } from './portal-sessions.store.js';

const EVERY_MS = 3_600_000;

@Injectable()
export class PortalSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly sessions: PortalSessionsStore,
    private readonly gate: RetentionGate,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'PortalSweep',
      () => this.sweep(),
      () => clock.nowMs(),
      HOUSEKEEPING,
    );
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }

  private async sweep(): Promise<{ restMs: number }> {
    if (!(await this.gate.isOpen())) return { restMs: CLOSED_REST_MS };
    await this.sessions.purge();
    return { restMs: EVERY_MS };
  }
}
