import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
/** Uses the index deliveries_pkey of one partition. */
const FAIL: Statement = {
  name: 'late_failures_fail',
  text: `
    update deliveries set status = 'failed', reason = $4
    where environment_id = $1 and event_id = $2 and expires_on = $3::date and status = 'delivered' and not superseded`,
};

/** Marks delivered deliveries as failed, for example when an email bounces after the relay has accepted it. */
@Injectable()
export class LateFailuresStore {
  constructor(private readonly database: Database) {}

  /**
   * Marks delivered deliveries of an event as failed, in the caller's transaction. Ignores superseded deliveries, which
   * do not determine the event's status. Keeps attempts and metrics, because the attempts took place. Safe to repeat.
   */
  async fail(environmentId: number, { id, expiresOn }: { id: Id; expiresOn: string }, reason: string): Promise<void> {
    await this.database.query(FAIL, [environmentId, id, expiresOn, reason]);
  }
}
