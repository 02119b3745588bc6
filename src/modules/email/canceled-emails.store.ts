import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { dateArray, uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';

const DAY_MS = 86_400_000;

/** Uses the index emails_status_idx of one partition per email. */
const CANCELED: Statement = {
  name: 'emails_canceled',
  text: `
    select e.id from unnest($2::uuid[], $3::date[]) as i(id, expires_on)
    join emails e on e.environment_id = $1 and e.id = i.id and e.expires_on = i.expires_on
    where e.status = 'canceled'`,
};

@Injectable()
export class CanceledEmailsStore {
  constructor(private readonly database: Database) {}

  /** Returns those of the emails that were canceled before their scheduled time. */
  async among(environmentId: number, emails: readonly { eventId: Id; expiresOn: string }[]): Promise<Id[]> {
    const rows = await this.database.queryPrepared<{ id: Id }>(CANCELED, [
      environmentId,
      uuidArray(emails.map(({ eventId }) => eventId)),
      dateArray(emails.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS)),
    ]);
    return rows.map(({ id }) => id);
  }
}
