import { Injectable } from '@nestjs/common';
import type { StoredHeaders } from '#kernel/crypto/sealed-headers.js';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

/** A payload as it is stored: a text, or bytes that are none; neither when it was erased. */
export interface PayloadRow {
  isReceived: boolean;
  payload: string | null;
  body: Buffer | null;
  /** What describes the payload is never sealed. */
  headers: StoredHeaders | null;
  erasedAt: Date | null;
}

/** events_pkey and messages_pkey, one look-up in each partition. A message of a fan-out has no event, but for one that nobody wanted. */
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

/** Reads payloads, however large they are. */
@Injectable()
export class PayloadStore {
  constructor(private readonly database: Database) {}

  /** That of an event, or of a message; null when there is neither in this environment. */
  async find(environmentId: number, id: Id): Promise<PayloadRow | null> {
    const [row] = await this.database.readPrepared<PayloadRow>(FIND, [environmentId, id]);
    return row ?? null;
  }
}
