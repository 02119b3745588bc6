import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { LateFailures } from './late-failures.contract.js';

/** Index: deliveries_pkey of one partition. */
const FAIL: Statement = {
  name: 'late_failures_fail',
  text: `
    update deliveries set status = 'failed', reason = $4
    where environment_id = $1 and event_id = $2 and expires_on = $3::date and status = 'delivered' and not superseded`,
};

@Injectable()
export class LateFailuresStore extends LateFailures {
  constructor(private readonly database: Database) {
    super();
  }

  override async fail(
    environmentId: number,
    { id, expiresOn }: { id: Id; expiresOn: string },
    reason: string,
  ): Promise<void> {
    await this.database.query(FAIL, [environmentId, id, expiresOn, reason]);
  }
}
