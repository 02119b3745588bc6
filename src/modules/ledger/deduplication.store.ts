import { Injectable } from '@nestjs/common';
import type { IdempotencyKeyEntity } from '#http/idempotency.entities.js';
import { Database, type Statement } from '#kernel/database/database.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';

/** Uses the index idempotency_keys_pkey. */
const ANSWER_OF: Statement = {
  name: 'repeats_answer_of',
  text: `
    select status, body from idempotency_keys
    where environment_id = $1 and route = $2 and key = $3 and expires_at > now() and status is not null
      and body is not null`,
};

@Injectable()
export class DeduplicationStore {
  constructor(private readonly database: Database) {}

  /** Returns the answer to the first request with this key, or null if there is none or the key has expired. */
  async findAnswer({ environmentId, route, key }: IdempotentRequest): Promise<StoredAnswer | null> {
    const [row] = await this.database.queryPrepared<Pick<IdempotencyKeyEntity, 'status' | 'body'>>(ANSWER_OF, [
      environmentId,
      route,
      key,
    ]);
    return row?.status == null || row.body === null ? null : { status: row.status, body: row.body };
  }
}
