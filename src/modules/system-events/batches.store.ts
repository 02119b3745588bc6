import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import { RECIPIENT_EVENT_TYPES, type SystemEventType } from './contract.js';

/**
 * Length of a time window. All signals of one type in one environment within a window are sent as a single event. Types
 * about recipients have no window.
 */
export const WINDOW_MS = 60_000;
/** Lease of a batch. After this time without progress, the process that holds it is considered dead. */
const LEASE_MS = 60_000;
const GROUPS_MAX = 500;
const CLAIM_MAX = 100;
/** Maximum number of items in an event. For types about recipients, further signals go to the next batch. */
const ITEMS_MAX = 100;
const RECIPIENT_TYPES = RECIPIENT_EVENT_TYPES.map((type) => `'${type}'`).join(', ');

export interface Batch {
  environmentId: number;
  type: SystemEventType;
  id: Id;
  /** Destination of system events; null if none is set. */
  destinationId: Id | null;
  /**
   * Day on which retention ends, in days since the epoch. It never changes, because it is part of the event's primary
   * key.
   */
  expiresOnDay: number;
  failures: number;
}

/** The signals about one resource (`subject`) in a batch, or about one recipient, and the totals of the whole batch. */
export interface BatchItem {
  subject: Id;
  details: Record<string, unknown>;
  count: number;
  /** Time of the signal, for types about recipients. */
  at: Date | null;
  total: number;
  subjects: number;
  firstAt: Date;
  lastAt: Date;
}

const COLUMNS = `
  t.environment_id as "environmentId", t.type, t.batch as id, t.destination_id as "destinationId",
  t.expires_on - date '1970-01-01' as "expiresOnDay", t.failures`;

/** Selects signal types whose next batch can start. Uses system_signals_waiting_idx and system_tellings_pkey. */
const READY: Statement = {
  name: 'system_batches_ready',
  text: `
    select s.environment_id as "environmentId", s.type
    from (select distinct environment_id, type from system_signals where batch is null and details is not null) s
    left join system_tellings t on t.environment_id = s.environment_id and t.type = s.type
    where t.type is null or (t.batch is null and (s.type in (${RECIPIENT_TYPES})
      or t.opened_at <= clock_timestamp() - ${WINDOW_MS} * interval '1 millisecond'))
    limit ${GROUPS_MAX}`,
};

/**
 * Opens a time window and moves the waiting signals into its batch. A single statement does both, so that of two
 * concurrent processes only one gets the signals. Signals that another transaction has locked wait for the next window.
 * Uses system_tellings_pkey and system_signals_waiting_idx.
 */
const BEGIN: Statement = {
  name: 'system_batches_begin',
  text: `
    with opened as (
      insert into system_tellings as t (environment_id, type, opened_at, batch, destination_id, expires_on,
        claimed_until, failures)
      values ($1, $2, clock_timestamp(), $3, $4, date '1970-01-01' + $5::int,
        clock_timestamp() + ${LEASE_MS} * interval '1 millisecond', 0)
      on conflict (environment_id, type) do update
        set opened_at = excluded.opened_at, batch = excluded.batch, destination_id = excluded.destination_id,
            expires_on = excluded.expires_on, claimed_until = excluded.claimed_until, failures = 0
        where t.batch is null and (t.type in (${RECIPIENT_TYPES})
          or t.opened_at <= clock_timestamp() - ${WINDOW_MS} * interval '1 millisecond')
      returning 1
    ), marked as (
      update system_signals set batch = $3 where exists (select from opened) and id = any (array(
        select id from system_signals
        where environment_id = $1 and type = $2 and batch is null and details is not null
        order by id limit $6 for update skip locked
      ))
    )
    select 1 as opened from opened`,
};

/** Claims batches that other processes left unfinished, and batches due for a retry. Uses system_tellings_batch_idx. */
const CLAIM: Statement = {
  name: 'system_batches_claim',
  text: `
    update system_tellings t set claimed_until = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
    from (
      select environment_id, type from system_tellings
      where batch is not null and claimed_until <= clock_timestamp() order by claimed_until limit ${CLAIM_MAX}
        for update skip locked
    ) due
    where t.environment_id = due.environment_id and t.type = due.type
    returning ${COLUMNS}`,
};

/**
 * Query for the poller. Returns 0 if a batch may be due, otherwise null. Uses system_signals_pkey and
 * system_tellings_batch_idx.
 */
export const SIGNALS_IN_MS = `
  select coalesce((select 0 from system_signals order by id limit 1), (select 0 from system_tellings
    where batch is not null order by claimed_until limit 1))`;

const TOTALS = `
  (sum(sum(count)) over ())::float8 as total, (count(*) over ())::int as subjects,
  min(min(first_at)) over () as "firstAt", max(max(last_at)) over () as "lastAt"
  from system_signals where environment_id = $1 and batch = $2 and ($3::uuid is null or subject <> $3)`;

/** Selects the subjects with the most signals first. Uses system_signals_batch_idx. */
const READ: Statement = {
  name: 'system_batches_read',
  text: `
    select subject, (array_agg(details order by id desc))[1] as details, sum(count)::float8 as count, null as at,
      ${TOTALS} group by subject order by 3 desc, subject limit ${ITEMS_MAX}`,
};

/** Selects the signals in their order. Uses system_signals_batch_idx. */
const READ_RECIPIENTS: Statement = {
  name: 'system_batches_read_recipients',
  text: `
    select subject, details, count::float8 as count, last_at as at,
      ${TOTALS} group by id order by id limit ${ITEMS_MAX}`,
};

const DUE_AGAIN: Statement = {
  name: 'system_batches_due_again',
  // Uses the index system_tellings_pkey.
  text: `
    update system_tellings set failures = failures + 1,
      claimed_until = clock_timestamp() + $4 * interval '1 millisecond'
    where environment_id = $1 and type = $2 and batch = $3`,
};

/**
 * Ends a batch. After a batch without signals, the next batch can start immediately. Uses system_tellings_pkey and
 * system_signals_batch_idx.
 */
const END: Statement = {
  name: 'system_batches_end',
  text: `
    with gone as (delete from system_signals where environment_id = $1 and batch = $3 returning 1)
    update system_tellings
    set batch = null, destination_id = null, expires_on = null, claimed_until = null, failures = 0,
        opened_at = case when exists (select from gone) then opened_at else '-infinity' end
    where environment_id = $1 and type = $2 and batch = $3`,
};

/** Stores batches of signals. Each signal type has one batch at a time in an environment. */
@Injectable()
export class BatchesStore {
  constructor(private readonly database: Database) {}

  ready(): Promise<{ environmentId: number; type: SystemEventType }[]> {
    return this.database.query(READY);
  }

  /** Moves waiting signals into a batch with a lease for this process. Returns false if another process was first. */
  async begin({ environmentId, type, id, destinationId, expiresOnDay }: Batch): Promise<boolean> {
    const limit = isOfRecipients(type) ? ITEMS_MAX : null;
    return (await this.database.query(BEGIN, [environmentId, type, id, destinationId, expiresOnDay, limit])).length > 0;
  }

  claim(): Promise<Batch[]> {
    return this.database.query(CLAIM);
  }

  /**
   * Returns at most 100 subjects, those with the most signals first, or all signals about recipients. Leaves out the
   * subject `except`.
   */
  read({ environmentId, type, id }: Batch, except: Id | null): Promise<BatchItem[]> {
    return this.database.query(isOfRecipients(type) ? READ_RECIPIENTS : READ, [environmentId, id, except]);
  }

  async dueAgain({ environmentId, type, id }: Batch, inMs: number): Promise<void> {
    await this.database.query(DUE_AGAIN, [environmentId, type, id, inMs]);
  }

  async end({ environmentId, type, id }: Batch): Promise<void> {
    await this.database.query(END, [environmentId, type, id]);
  }
}

const isOfRecipients = (type: SystemEventType): boolean => RECIPIENT_EVENT_TYPES.includes(type);
