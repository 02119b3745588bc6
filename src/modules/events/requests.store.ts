import { Injectable } from '@nestjs/common';
import { sealedNames } from '#engine/inbound/query.js';
import { openHeaders, sealedHeaderNames } from '#kernel/crypto/sealed-headers.js';
import { openParameters, openUrl } from '#kernel/crypto/sealed-parameters.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { EventEntity, RequestEntity } from '#modules/ledger/ledger.entities.js';
import { type RequestDetail, type RequestFilter, type RequestRow } from './requests.contract.js';

const COLUMNS = `
  r.id, r.method, r.path, case when r.duplicate_of is not null then 'duplicate' when r.too_large then 'too_large' else coalesce(e.disposition, 'routed') end as status, r.verification, r.size_bytes as "sizeBytes",
  r.dedupe_id as "dedupeId", r.note, r.replay_of as "replayOf", r.duplicate_of as "duplicateOf", r.released_at as "releasedAt"`;
const EVENT =
  'left join events e on e.environment_id = r.environment_id and e.id = r.id and e.expires_on = r.expires_on';

/** Uses the index requests_endpoint_id_idx, and events_pkey for each row of the page. */
const PAGE: Statement = {
  name: 'requests_page',
  text: `
    select ${COLUMNS} from requests r ${EVENT}
    where r.environment_id = $1 and r.endpoint_id = $2 and r.id < $3 and r.id >= $4 and ($5::text is null
      or r.method = $5)
    order by r.id desc limit $6`,
};

/**
 * Selects a page of the requests that created deliveries. Uses the index requests_endpoint_id_idx, and events_pkey for
 * each row.
 */
const PAGE_ROUTED: Statement = {
  name: 'requests_page_routed',
  text: PAGE.text.replace(
    'order by',
    'and e.disposition is null and r.duplicate_of is null and r.too_large is null order by',
  ),
};

/** Uses the index requests_duplicates_idx. */
const PAGE_DUPLICATES: Statement = {
  name: 'requests_page_duplicates',
  text: PAGE.text.replace('order by', 'and r.duplicate_of is not null order by'),
};

/** Uses the index requests_too_large_idx. */
const PAGE_TOO_LARGE: Statement = {
  name: 'requests_page_too_large',
  text: PAGE.text.replace('order by', 'and r.too_large order by'),
};

/** Uses the index events_set_aside_idx, and requests_pkey of one partition for each row of the page. */
const PAGE_SET_ASIDE: Statement = {
  name: 'requests_page_set_aside',
  text: `
    select ${COLUMNS} from events e join requests r on r.environment_id = e.environment_id and r.id = e.id
      and r.expires_on = e.expires_on
    where e.environment_id = $1 and e.target_id = $2 and e.id < $3 and e.id >= $4 and ($5::text is null
      or r.method = $5)
      and e.disposition = $7 order by e.id desc limit $6`,
};

/**
 * Finds a request with requests_pkey, with one lookup in each partition. A body that equals the event's payload is
 * stored only in the event. The payload is read as text, because PostgreSQL sends bytes in hex, which takes a second
 * for 25 MB. A duplicate without a body was erased together with the event of the earlier request (events_pkey).
 */
const FIND: Statement = {
  name: 'requests_find',
  text: `
    select ${COLUMNS}, r.endpoint_id as "endpointId", r.url, r.query, r.headers, r.ip, r.answer, r.logs,
           coalesce(r.body, e.body) as body, case when r.body is null and e.body is null then e.payload end as payload,
           case when r.duplicate_of is null then e.erased_at when r.body is null then coalesce(
             (select f.erased_at from events f where f.environment_id = r.environment_id and f.id = r.duplicate_of),
               now()) end as "erasedAt"
    from requests r ${EVENT} where r.environment_id = $1 and r.id = $2`,
};

/** The fields of a request that are columns of its row. */
type RequestColumn = Exclude<keyof RequestDetail & keyof RequestEntity, 'body'>;

/** Reads the HTTP requests from which received events were created. A request has the same id as its event. */
@Injectable()
export class RequestsStore {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  /** Returns a page of requests, newest first. */
  page(
    environmentId: number,
    endpointId: Id,
    { beforeId, fromId, method, status }: RequestFilter,
    limit: number,
  ): Promise<RequestRow[]> {
    const values = [environmentId, endpointId, beforeId, fromId, method ?? null, limit];
    if (status === undefined) return this.database.readPrepared(PAGE, values);
    if (status === 'routed') return this.database.readPrepared(PAGE_ROUTED, values);
    if (status === 'duplicate') return this.database.readPrepared(PAGE_DUPLICATES, values);
    return status === 'too_large'
      ? this.database.readPrepared(PAGE_TOO_LARGE, values)
      : this.database.readPrepared(PAGE_SET_ASIDE, [...values, status]);
  }

  /** Returns a request, or null if the environment has no such request. */
  async find(environmentId: number, id: Id): Promise<RequestDetail | null> {
    type Row = Omit<RequestDetail, RequestColumn | 'body'> &
      Pick<RequestEntity, RequestColumn | 'body'> &
      Pick<EventEntity, 'payload'>;
    const [row] = await this.database.readPrepared<Row>(FIND, [environmentId, id]);
    if (row === undefined) return null;
    const { payload, ...request } = row;
    const body = row.body ?? Buffer.from(payload ?? '');
    const of = { environmentId, id };
    const query = openParameters(this.vault, of, row.query);
    return {
      ...request,
      body,
      query,
      url: openUrl(this.vault, of, row.url),
      headers: openHeaders(this.vault, of, row.headers),
      sealedHeaders: sealedHeaderNames(row.headers, 'all'),
      credentials: { headers: sealedHeaderNames(row.headers, 'used'), parameters: sealedNames(row.query, query) },
    };
  }
}
