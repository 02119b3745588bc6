import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { PortalSessionsStore } from './portal-sessions.store.js';

const EVERY_MS = 3_600_000;

@Injectable()
export class PortalSweep {
  constructor(private readonly sessions: PortalSessionsStore) {}

  @Every(EVERY_MS, { name: 'Portal session sweep', removesByAge: true })
  async sweep(): Promise<void> {
    await this.sessions.purge();
  }
}
