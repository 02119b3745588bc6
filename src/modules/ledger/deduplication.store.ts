import { Injectable } from '@nestjs/common';
import type { IdempotencyKeyEntity } from '#http/idempotency.entities.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { byteaArray, dateArray, intArray, jsonbArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { IdempotentRequest, StoredAnswer } from '#kernel/idempotency.js';
import type { DuplicateRequest } from './deduplication.contract.js';

/** Uses the index idempotency_keys_pkey. */
const ANSWER_OF: Statement = {
  name: 'repeats_answer_of',
  text: `
    select status, body from idempotency_keys
    where environment_id = $1 and route = $2 and key = $3 and expires_at > now() and status is not null
      and body is not null`,
};

/** This statement only inserts rows. */
const KEEP: Statement = {
  name: 'repeats_keep',
  text: `
    insert into requests (environment_id, id, expires_on, endpoint_id, duplicate_of, method, url, path, query,
      headers, body, size_bytes,
                          ip, verification, dedupe_id, note, answer)
    select * from unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[], $5::uuid[], $6::text[], $7::text[],
      $8::text[], $9::text[], $10::jsonb[],
                         $11::bytea[], $12::int[], $13::text[], $14::text[], $15::text[], $16::text[], $17::jsonb[])`,
};

@Injectable()
export class DeduplicationStore {
  constructor(private readonly database: Database) {}

  async findAnswer({ environmentId, route, key }: IdempotentRequest): Promise<StoredAnswer | null> {
    const [row] = await this.database.queryPrepared<Pick<IdempotencyKeyEntity, 'status' | 'body'>>(ANSWER_OF, [
      environmentId,
      route,
      key,
    ]);
    return row?.status == null || row.body === null ? null : { status: row.status, body: row.body };
  }

  async insert(group: readonly DuplicateRequest[]): Promise<void> {
    const requests = group.map(({ request }) => request);
    await this.database.queryPrepared(KEEP, [
      intArray(group.map(({ environmentId }) => environmentId)),
      uuidArray(group.map(({ id }) => id)),
      dateArray(group.map(({ expiresOnDay }) => expiresOnDay)),
      uuidArray(group.map(({ endpointId }) => endpointId)),
      uuidArray(group.map(({ duplicateOf }) => duplicateOf)),
      textArray(requests.map(({ method }) => method)),
      textArray(requests.map(({ url }) => url)),
      textArray(requests.map(({ path }) => path)),
      textArray(requests.map(({ query }) => query)),
      jsonbArray(requests.map(({ headers }) => JSON.stringify(headers))),
      byteaArray(requests.map(({ body }) => body)),
      intArray(requests.map(({ sizeBytes }) => sizeBytes)),
      textArray(requests.map(({ ip }) => ip)),
      textArray(requests.map(({ verification }) => verification)),
      textArray(requests.map(({ dedupeId }) => dedupeId)),
      textArray(requests.map(({ note }) => note)),
      jsonbArray(requests.map(({ answer }) => answer)),
    ]);
  }
}
