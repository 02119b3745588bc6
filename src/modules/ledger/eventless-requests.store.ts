import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import {
  booleanArray,
  byteaArray,
  dateArray,
  intArray,
  jsonbArray,
  textArray,
  uuidArray,
} from '#kernel/database/pg-array.js';
import type { EventlessRequest } from './eventless-requests.contract.js';

const INSERT: Statement = {
  name: 'eventless_requests_insert',
  text: `
    insert into requests (environment_id, id, expires_on, endpoint_id, duplicate_of, too_large, method, url, path, query,
      headers, body, size_bytes,
                          ip, verification, dedupe_id, note, answer)
    select * from unnest($1::int[], $2::uuid[], $3::date[], $4::uuid[], $5::uuid[], $6::boolean[], $7::text[],
      $8::text[], $9::text[], $10::text[], $11::jsonb[], $12::bytea[], $13::int[], $14::text[], $15::text[],
      $16::text[], $17::text[], $18::jsonb[])`,
};

@Injectable()
export class EventlessRequestsStore {
  constructor(private readonly database: Database) {}

  async insert(group: readonly EventlessRequest[]): Promise<void> {
    const requests = group.map(({ request }) => request);
    await this.database.queryPrepared(INSERT, [
      intArray(group.map(({ environmentId }) => environmentId)),
      uuidArray(group.map(({ id }) => id)),
      dateArray(group.map(({ expiresOnDay }) => expiresOnDay)),
      uuidArray(group.map(({ endpointId }) => endpointId)),
      uuidArray(group.map(({ duplicateOf }) => duplicateOf)),
      booleanArray(group.map(({ isTooLarge }) => (isTooLarge ? true : null))),
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
