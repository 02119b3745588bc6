import { Injectable } from '@nestjs/common';
import { Every } from '#kernel/concurrency/every.js';
import { SessionsStore } from './sessions.store.js';

const EVERY_MS = 3_600_000;

/** Deletes sessions a month after they ended. */
@Injectable()
export class SessionSweep {
  constructor(private readonly sessions: SessionsStore) {}

  @Every(EVERY_MS, { name: 'Session sweep', removesByAge: true })
  async sweep(): Promise<void> {
    await this.sessions.purge();
  }
}
