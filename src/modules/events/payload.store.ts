import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { EventEntity } from '#modules/ledger/ledger.entities.js';

/**
 * A payload as stored in the database: text in `payload`, or bytes in `body` if it is not text. Both are null after an
 * erasure. `headers` may contain encrypted values, but `content-type` and `content-encoding` are never encrypted.
 */
export interface PayloadRow extends Pick<EventEntity, 'payload' | 'body' | 'headers' | 'erasedAt'> {
  isReceived: boolean;
}

/**
 * Finds the payload of an event or a message, with events_pkey and messages_pkey in each partition. The id of a message
 * without subscribed endpoints is also the id of its event. The statement then finds two rows with the same payload,
 * and returns the first.
 */
const FIND: Statement = {
  name: 'payload_find',
  text: `
    (select e.direction = 'inbound' as "isReceived", coalesce(e.payload, m.payload) as payload, e.body, coalesce(e.headers, m.headers) as headers,
            coalesce(e.erased_at, m.erased_at) as "erasedAt"
     from events e
     left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
     where e.environment_id = $1 and e.id = $2)
    union all
    (select false, payload, null, headers, erased_at from messages where environment_id = $1 and id = $2)
    limit 1`,
};

@Injectable()
export class PayloadStore {
  constructor(private readonly database: Database) {}

  /** Returns a payload, or null if the environment has no such event or message. */
  async find(environmentId: number, id: Id): Promise<PayloadRow | null> {
    const [row] = await this.database.readPrepared<PayloadRow>(FIND, [environmentId, id]);
    return row ?? null;
  }
}
