import { Injectable } from '@nestjs/common';
import { storableJson } from '#engine/storable.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { jsonbArray, uuidArray } from '#kernel/database/pg-array.js';
import { RECIPIENT_EVENT_TYPES, type Signal } from './contract.js';

const INSERT: Statement = {
  name: 'system_signals_insert',
  text: `
    insert into system_signals (environment_id, type, subject, details, count, first_at, last_at)
    values ($1, $2, $3, $4::jsonb, $5, clock_timestamp(), clock_timestamp())`,
};

/** Selects signals whose details are missing. Uses system_signals_unknown_idx. */
const UNKNOWN: Statement = {
  name: 'system_signals_unknown',
  text: `
    select environment_id as "environmentId", array_agg(distinct subject) as subjects
    from (select environment_id, subject from system_signals where details is null order by id limit 2000) s
    group by environment_id`,
};

/** Adds details to signals, unless another process has already added them. Uses system_signals_unknown_idx. */
const DESCRIBE: Statement = {
  name: 'system_signals_describe',
  text: `
    update system_signals s set details = k.details
    from unnest($2::uuid[], $3::jsonb[]) as k(subject, details)
    where s.environment_id = $1 and s.subject = k.subject and s.details is null`,
};

/** Uses the index system_signals_unknown_idx. */
const DROP: Statement = {
  name: 'system_signals_drop',
  text: 'delete from system_signals where environment_id = $1 and subject = any ($2::uuid[]) and details is null',
};

/**
 * Merges waiting signals of one subject, except those about recipients, so that each subject has few rows even if sending takes long. This is a single
 * statement, so that a crash neither loses nor doubles a count. Uses system_signals_waiting_idx.
 */
const FOLD: Statement = {
  name: 'system_signals_fold',
  text: `
    with twice as (
      select environment_id, type, subject from system_signals where batch is null and details is not null
        and type <> all ($1::text[])
      group by environment_id, type, subject having count(*) > 1 limit 1000
    ), gone as (
      delete from system_signals where id = any (array(
        select s.id from system_signals s join twice using (environment_id, type, subject)
        where s.batch is null and s.details is not null limit 10000 for update of s skip locked
      )) returning *
    ), folded as (
      insert into system_signals (environment_id, type, subject, details, count, first_at, last_at)
      select environment_id, type, subject, (array_agg(details order by id desc))[1], sum(count), min(first_at),
        max(last_at)
      from gone group by environment_id, type, subject
    )
    select count(*)::int as folded from gone`,
};

/** Uses the indexes system_signals_waiting_idx and system_signals_unknown_idx. */
const WAITING: Statement = {
  name: 'system_signals_waiting',
  text: `
    select count(*)::int as waiting, coalesce(extract(epoch from clock_timestamp() - min(first_at)),
      0)::float8 as "oldestAgeSeconds"
    from system_signals`,
};

@Injectable()
export class SignalsStore {
  constructor(private readonly database: Database) {}

  async insert({ environmentId, type, subject, details, count = 1 }: Signal): Promise<void> {
    await this.database.query(INSERT, [environmentId, type, subject, JSON.stringify(storableJson(details)), count]);
  }

  unknown(): Promise<{ environmentId: number; subjects: string[] }[]> {
    return this.database.query(UNKNOWN);
  }

  async describe(environmentId: number, details: ReadonlyMap<string, Record<string, unknown>>): Promise<void> {
    await this.database.query(DESCRIBE, [
      environmentId,
      uuidArray([...details.keys()]),
      jsonbArray([...details.values()].map((each) => JSON.stringify(each))),
    ]);
  }

  async drop(environmentId: number, subjects: readonly string[]): Promise<void> {
    await this.database.query(DROP, [environmentId, uuidArray(subjects)]);
  }

  /** Returns the number of signals removed by merging. */
  async fold(): Promise<number> {
    const [row] = await this.database.query<{ folded: number }>(FOLD, [RECIPIENT_EVENT_TYPES]);
    return row?.folded ?? 0;
  }

  async waiting(): Promise<{ waiting: number; oldestAgeSeconds: number }> {
    const [row] = await this.database.query<{ waiting: number; oldestAgeSeconds: number }>(WAITING);
    return row ?? { waiting: 0, oldestAgeSeconds: 0 };
  }
}
