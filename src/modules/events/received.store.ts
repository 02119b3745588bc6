import { Injectable } from '@nestjs/common';
import { openHeaders } from '#kernel/crypto/sealed-headers.js';
import { openParameters, openUrl } from '#kernel/crypto/sealed-parameters.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { isDropped } from '#modules/ledger/dropped.contract.js';
import type { EventEntity, RequestEntity } from '#modules/ledger/ledger.entities.js';
import { STATUS } from './event-rows.js';
import { type ReceivedRange, type ReceivedRow } from './received.contract.js';

const RANGE = 'e.environment_id = $1 and e.target_id = $2 and e.id < $3 and e.id >= $4';
const IN_STATUS = `($5::text is null or ${STATUS} = $5)`;
/** SQL condition: true for events that are never replayed. Reads `requests` only for rows that old versions wrote. */
const IS_EXCLUDED = `(e.erased_at is not null or coalesce(e.disposition in ('quarantined', 'parked'), false) or ${isDropped('e')})`;
const COLUMNS = `e.id, e.expires_on::text as "expiresOn", ${IS_EXCLUDED} as "isExcluded", ${IN_STATUS} as "inStatus"`;
/** Number of body bytes to read. Filters evaluate 128 KB, and one more byte shows whether the body is longer. */
const SEEN_BYTES = 131_073;

/** Reads events_target_id_idx in descending order. Computes the status per row, so the page limit bounds the work. */
const PAGE: Statement = {
  name: 'received_page',
  text: `select ${COLUMNS} from events e where ${RANGE} order by e.id desc limit $6`,
};

/**
 * Reads a page of received events with their requests. Uses events_target_id_idx in descending order, and requests_pkey
 * for each row.
 */
const PAGE_WITH_REQUESTS: Statement = {
  name: 'received_page_with_requests',
  text: `
    select p.*, r.method, r.url, r.path, r.query, r.headers, r.ip, r.verification
    from (
      select ${COLUMNS}, e.environment_id, e.expires_on,
             coalesce(substring(e.body from 1 for ${SEEN_BYTES}), convert_to(left(e.payload, ${SEEN_BYTES}),
               'UTF8')) as body
      from events e where ${RANGE} order by e.id desc limit $6
    ) p join requests r on r.environment_id = p.environment_id and r.id = p.id and r.expires_on = p.expires_on
    order by p.id desc`,
};

/** Uses events_target_id_idx, and requests_pkey for `ignored` events of old versions. The limit bounds the cost. */
const COUNT: Statement = {
  name: 'received_count',
  text: `
    select count(*)::int as scanned, count(*) filter (where "isExcluded")::int as excluded
    from (select ${IS_EXCLUDED} as "isExcluded" from events e where ${RANGE} and ${IN_STATUS} limit $6) counted`,
};

/** Uses the index due_deliveries_pkey. The table contains only open deliveries. */
const WAITING: Statement = {
  name: 'received_waiting',
  text: `
    select count(*)::int as count from (
      select 1 from due_deliveries
      where environment_id = $1 and event_id >= $2 and event_id <= $3 and replayed and claimed_by is null
        and not parked limit $4
    ) waiting`,
};

/** Counts an environment's newest events, at the end of the index events_pkey in each partition. */
const ACCEPTED_SINCE: Statement = {
  name: 'received_accepted_since',
  text: 'select count(*)::int as count from (select 1 from events where environment_id = $1 and id >= $2 limit $3) accepted',
};

type ListedRow = Pick<EventEntity, 'id' | 'expiresOn'> & Pick<ReceivedRow, 'isExcluded' | 'inStatus'>;
type PageRow = ListedRow &
  Pick<RequestEntity, Exclude<keyof NonNullable<ReceivedRow['request']>, 'body'>> & { body: Buffer };

/** Reads received events, in the caller's transaction if there is one. */
@Injectable()
export class ReceivedStore {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  /** Returns events of any state, newest first. `inStatus` is true for events in the requested state. */
  async page(range: ReceivedRange, limit: number, hasRequests: boolean): Promise<ReceivedRow[]> {
    const values = [...valuesOf(range), limit];
    if (!hasRequests)
      return (await this.database.readPrepared<ListedRow>(PAGE, values)).map((row) => ({ ...row, request: null }));
    const rows = await this.database.readPrepared<PageRow>(PAGE_WITH_REQUESTS, values);
    return rows.map(
      ({ id, expiresOn, isExcluded, inStatus, method, url, path, query, headers, ip, verification, body }) => ({
        id,
        expiresOn,
        isExcluded,
        inStatus,
        request: {
          method,
          url: openUrl(this.vault, { environmentId: range.environmentId, id }, url),
          path,
          query: openParameters(this.vault, { environmentId: range.environmentId, id }, query),
          headers: openHeaders(this.vault, { environmentId: range.environmentId, id }, headers),
          ip,
          verification,
          body,
        },
      }),
    );
  }

  /**
   * Counts the events of the range, up to `max`. `excluded` is the number of counted events that are never replayed.
   */
  async count(range: ReceivedRange, max: number): Promise<{ scanned: number; excluded: number }> {
    const [row] = await this.database.readPrepared<{ scanned: number; excluded: number }>(COUNT, [
      ...valuesOf(range),
      max,
    ]);
    return row ?? { scanned: 0, excluded: 0 };
  }

  /** Counts the environment's events from this id on, including sent events, up to `max`. */
  async acceptedSince(environmentId: number, id: Id, max: number): Promise<number> {
    const [row] = await this.database.readPrepared<{ count: number }>(ACCEPTED_SINCE, [environmentId, id, max]);
    return row?.count ?? 0;
  }

  /** Counts deliveries waiting to be claimed, for events between two ids (both inclusive), up to `max`. */
  async waiting(environmentId: number, fromId: Id, toId: Id, max: number): Promise<number> {
    const [row] = await this.database.readPrepared<{ count: number }>(WAITING, [environmentId, fromId, toId, max]);
    return row?.count ?? 0;
  }
}

function valuesOf({ environmentId, endpointId, beforeId, fromId, status }: ReceivedRange): unknown[] {
  return [environmentId, endpointId, beforeId, fromId, status];
}
