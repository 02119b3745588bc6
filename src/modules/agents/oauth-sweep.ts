import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { HOUSEKEEPING, Loop } from '#kernel/concurrency/loop.js';
import { CLOSED_REST_MS, RetentionGate } from '#kernel/database/retention-gate.js';
import { OAuthClientsStore } from './oauth-clients.store.js';
import { OAuthCodesStore } from './oauth-codes.store.js';
import { OAuthDevicesStore } from './oauth-devices.store.js';

const EVERY_MS = 600_000;

@Injectable()
export class OAuthSweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    private readonly clients: OAuthClientsStore,
    private readonly codes: OAuthCodesStore,
    private readonly devices: OAuthDevicesStore,
    private readonly gate: RetentionGate,
    clock: Clock,
  ) {
    this.loop = new Loop(
      'OAuthSweep',
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
    await this.clients.purge();
    await this.codes.purge();
    await this.devices.purge();
    return { restMs: EVERY_MS };
  }
}
