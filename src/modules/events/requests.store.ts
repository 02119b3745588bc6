import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import { Requests, type RequestDetail, type RequestRow } from '#modules/ledger/accept.contract.js';

const COLUMNS = `
  r.id, r.method, r.path, coalesce(e.disposition, 'routed') as status, r.verification, r.size_bytes as "sizeBytes",
  r.dedupe_id as "dedupeId", r.note, r.replay_of as "replayOf"`;
const EVENT = 'left join events e on e.environment_id = r.environment_id and e.id = r.id and e.expires_on = r.expires_on';

/** requests_endpoint_id_idx, and events_pkey for each row of the page. */
const PAGE: Statement = {
  name: 'requests_page',
  text: `
    select ${COLUMNS} from requests r ${EVENT}
    where r.environment_id = $1 and r.endpoint_id = $2 and r.id < $3 order by r.id desc limit $4`,
};

/** requests_pkey, one look-up in each partition. A body that is the event's payload stands there alone. */
const FIND: Statement = {
  name: 'requests_find',
  text: `
    select ${COLUMNS}, r.endpoint_id as "endpointId", r.url, r.query, r.headers, r.ip,
           coalesce(r.body, e.body, convert_to(e.payload, 'UTF8'), '') as body, e.erased_at as "erasedAt"
    from requests r ${EVENT} where r.environment_id = $1 and r.id = $2`,
};

/** Reads raw requests. */
@Injectable()
export class RequestsStore extends Requests {
  constructor(private readonly database: Database) {
    super();
  }

  override page(environmentId: number, endpointId: Id, beforeId: Id, limit: number): Promise<RequestRow[]> {
    return this.database.read(PAGE, [environmentId, endpointId, beforeId, limit]);
  }

  override async find(environmentId: number, id: Id): Promise<RequestDetail | null> {
    const [row] = await this.database.read<RequestDetail>(FIND, [environmentId, id]);
    return row ?? null;
  }
}
