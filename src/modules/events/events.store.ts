import { Injectable } from '@nestjs/common';
import type { CodeLogs } from '#engine/code-logs.js';
import type { KeptExchange } from '#engine/redacted-exchange.js';
import { headersPlace, openNamed } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { dateArray, textArray, uuidArray } from '#kernel/database/pg-array.js';
import type { Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { AttemptEntity, DeliveryEntity, EventEntity } from '#modules/ledger/ledger.entities.js';
import type { AttemptRow } from './attempts.contract.js';
import { countStatement, type EventFilter, listStatement, windowRows, windowStatement } from './event-lists.js';
import { COLUMNS, type DeliveryStatus, type EventRow, LAST_ATTEMPT, STATUS } from './event-rows.js';

const DAY_MS = 86_400_000;

export interface EventProgress {
  id: Id;
  /** Number of attempts, including those of superseded deliveries. */
  attemptCount: number;
  /** Earliest time of a delivery's next attempt; null if none is scheduled. */
  nextAttemptAt: Date | null;
  /** Start of the last attempt of the delivery that determines the event's status; null without attempts. */
  lastAt: Date | null;
  lastStatus: number | null;
  /** Error of the last attempt. Null if the attempt got a response. */
  lastError: string | null;
}

export interface EventContent {
  applicationId: Id | null;
  erasedAt: Date | null;
  note: string | null;
  logs: CodeLogs | null;
  headers: Record<string, string> | null;
  /** Method of the received request. Null for a sent event. */
  method: string | null;
  path: string | null;
  query: string | null;
  payload: string | null;
  /** Payload as bytes, used instead of `payload` if the payload is not text. */
  body: Buffer | null;
  payloadBytes: number;
}

export type FoundEvent = EventRow & EventContent;

/** The stored columns in `COLUMNS`, and the derived status. */
type StoredRow = Pick<EventEntity, keyof Omit<EventRow, 'status'>> & Pick<EventRow, 'status'>;

export interface ExchangeRow extends Pick<AttemptEntity, 'ordinal' | 'number' | 'status' | 'startedAt'> {
  exchange: KeptExchange;
}

export interface DeliveryRow extends Pick<
  DeliveryEntity,
  'ordinal' | 'targetId' | 'reason' | 'replayed' | 'superseded'
> {
  status: DeliveryStatus;
  nextAttemptAt: Date | null;
}

/** The expiry day limits the lookup to one partition. With a retention of one year there are sixty partitions. */
const find = (isOnDay: boolean): Statement => ({
  name: `events_find${isOnDay ? '_on' : ''}`,
  text: `
    select ${COLUMNS}, ${STATUS} as status, coalesce(e.headers, m.headers) as headers, coalesce(e.payload,
      m.payload) as payload, e.body,
           e.payload_bytes as "payloadBytes", m.application_id as "applicationId", coalesce(e.erased_at,
             m.erased_at) as "erasedAt", r.note, r.logs,
           e.method, e.path, e.query
    from events e
    left join messages m on m.environment_id = e.environment_id and m.id = e.message_id and m.expires_on = e.expires_on
    left join requests r on e.direction = 'inbound' and r.environment_id = e.environment_id and r.id = e.id
      and r.expires_on = e.expires_on
    where e.environment_id = $1 and e.id = $2${isOnDay ? ` and e.expires_on = date '1970-01-01' + $3::int` : ''}`,
});

const [FIND, FIND_ON] = [find(false), find(true)];

const DELIVERIES: Statement = {
  name: 'events_deliveries',
  text: `
    select ordinal, target_id as "targetId", 'retrying' as status, null as reason,
           due_at as "nextAttemptAt", replayed, superseded
    from due_deliveries where environment_id = $1 and event_id = $2
    union all
    select ordinal, target_id, status, reason, null, replayed, superseded
    from deliveries where environment_id = $1 and event_id = $2 and expires_on = $3::date
    order by ordinal`,
};

const ATTEMPTS: Statement = {
  name: 'events_attempts',
  text: `
    select ordinal, number, status, error, duration_ms as "durationMs", started_at as "startedAt",
      response_excerpt as excerpt
    from attempts where environment_id = $1 and event_id = $2 and expires_on = $3::date
    order by started_at, ordinal, number`,
};

/** Uses the index attempts_pkey of one partition. */
const EXCHANGES: Statement = {
  name: 'events_exchanges',
  text: `
    select ordinal, number, status, started_at as "startedAt", exchange
    from attempts where environment_id = $1 and event_id = $2 and expires_on = $3::date and exchange is not null
    order by started_at desc, ordinal desc, number desc limit $4`,
};

/** Uses the indexes attempts_pkey, due_deliveries_pkey and deliveries_pkey, for each event of a page. */
const PROGRESS: Statement = {
  name: 'events_progress',
  text: `
    select e.id,
           (select count(*)::int from attempts a
            where a.environment_id = e.environment_id and a.event_id = e.id
              and a.expires_on = e.expires_on) as "attemptCount",
           (select min(o.due_at) from due_deliveries o
            where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded) as "nextAttemptAt",
           t.started_at as "lastAt", t.status as "lastStatus", t.error as "lastError"
    from (select $1::int as environment_id, id, expires_on from unnest($2::uuid[], $3::date[]) as p(id, expires_on)) e
    left join lateral (${LAST_ATTEMPT}) t on true`,
};

@Injectable()
export class EventsStore {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  /**
   * Returns the oldest id that a page may include, so that the page scans at most `rows` rows. Null if there is no
   * limit.
   */
  async windowEnd(
    tenant: Pick<Tenant, 'environmentId'>,
    filter: EventFilter,
    rows = windowRows(filter),
  ): Promise<Id | null> {
    const statement = windowStatement(filter);
    if (statement === null) return null;
    const { beforeId, fromId, eventType, targetId, endpointId, destinationId, applicationId, statuses, dedupeId } =
      filter;
    const [end] = await this.database.readPrepared<{ id: Id }>(statement, [
      tenant.environmentId,
      beforeId,
      fromId,
      rows,
      eventType ?? null,
      destinationId ?? targetId ?? endpointId ?? null,
      applicationId ?? null,
      textArray(statuses ?? []),
      dedupeId ?? null,
    ]);
    return end?.id ?? null;
  }

  list(tenant: Pick<Tenant, 'environmentId'>, filter: EventFilter, limit: number): Promise<EventRow[]> {
    return this.database.readPrepared(listStatement(filter), valuesOf(tenant, filter, limit));
  }

  async count(tenant: Tenant, filter: EventFilter, max: number): Promise<number> {
    const [row] = await this.database.readPrepared<{ count: number }>(
      countStatement(filter),
      valuesOf(tenant, filter, max),
    );
    return row?.count ?? 0;
  }

  progress(tenant: Tenant, events: readonly Pick<EventRow, 'id' | 'expiresOn'>[]): Promise<EventProgress[]> {
    const days = events.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS);
    return this.database.readPrepared(PROGRESS, [
      tenant.environmentId,
      uuidArray(events.map(({ id }) => id)),
      dateArray(days),
    ]);
  }

  /** Returns an event, or null. Uses the index events_pkey, with one lookup in each partition. */
  find(tenant: Tenant, id: Id): Promise<FoundEvent | null> {
    return this.found(tenant, id, FIND, [tenant.environmentId, id]);
  }

  /** Returns an event if it is in the partition of this expiry day (days since the epoch), otherwise null. */
  findOn(tenant: Tenant, id: Id, expiresOnDay: number): Promise<FoundEvent | null> {
    return this.found(tenant, id, FIND_ON, [tenant.environmentId, id, expiresOnDay]);
  }

  private async found(
    { environmentId }: Tenant,
    id: Id,
    statement: Statement,
    values: unknown[],
  ): Promise<FoundEvent | null> {
    const [row] = await this.database.readPrepared<
      StoredRow & Omit<EventContent, 'headers'> & Pick<EventEntity, 'headers'>
    >(statement, values);
    if (!row) return null;
    return {
      ...row,
      headers:
        row.headers &&
        openNamed(this.vault, headersPlace({ environmentId, eventId: id, messageId: row.messageId }), row.headers),
    };
  }

  deliveries(tenant: Tenant, event: EventRow): Promise<DeliveryRow[]> {
    return this.database.readPrepared(DELIVERIES, [tenant.environmentId, event.id, event.expiresOn]);
  }

  attempts(tenant: Tenant, event: Pick<EventRow, 'id' | 'expiresOn'>): Promise<(AttemptRow & { ordinal: number })[]> {
    return this.database.readPrepared(ATTEMPTS, [tenant.environmentId, event.id, event.expiresOn]);
  }

  /** Returns the requests and responses of the latest failed attempts, newest first. */
  async exchanges(tenant: Tenant, event: Pick<EventRow, 'id' | 'expiresOn'>, limit: number): Promise<ExchangeRow[]> {
    const rows = await this.database.readPrepared<Omit<ExchangeRow, 'exchange'> & { exchange: string }>(EXCHANGES, [
      tenant.environmentId,
      event.id,
      event.expiresOn,
      limit,
    ]);
    return rows.map((row) => ({ ...row, exchange: JSON.parse(row.exchange) as KeptExchange }));
  }
}

function valuesOf({ environmentId }: Pick<Tenant, 'environmentId'>, filter: EventFilter, limit: number): unknown[] {
  const {
    beforeId,
    fromId,
    eventType,
    targetId,
    endpointId,
    messageId,
    destinationId,
    applicationId,
    direction,
    error,
    statuses,
    dedupeId,
  } = filter;
  return [
    environmentId,
    beforeId,
    fromId,
    limit,
    eventType ?? null,
    targetId ?? endpointId ?? null,
    messageId ?? null,
    destinationId ?? null,
    applicationId ?? null,
    direction ?? null,
    error ?? null,
    textArray(statuses ?? []),
    dedupeId ?? null,
  ];
}
