import { Injectable } from '@nestjs/common';
import { Database, type Statement } from 'posthorn';
import { LessThan } from 'typeorm';
import { NatsSubjectHourEntity } from './nats.entities.js';

/** One message that a stream has stored. */
export interface Publish {
  environmentId: number;
  stream: string;
  subject: string;
  bytes: number;
  atMs: number;
}

/** Position of a row in the list. */
export type Place = Pick<NatsSubjectHourEntity, 'hour' | 'stream' | 'subject'>;

const APPEND: Statement = {
  name: 'nats.append',
  text: `
    insert into nats_publishes (environment_id, stream, subject, bytes, published_at)
    select * from unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::timestamptz[])`,
};

const FOLD: Statement = {
  name: 'nats.fold',
  // Uses the index nats_publishes_pkey. Skips rows locked by another process, so that every message is counted once.
  text: `
    with taken as (
      delete from nats_publishes where id in (select id from nats_publishes order by id limit $1::int for update skip locked)
      returning environment_id, date_trunc('hour', published_at, 'UTC') as hour, stream, subject, bytes
    ), counted as (
      insert into nats_subject_hours as known (environment_id, hour, stream, subject, messages, bytes)
      select environment_id, hour, stream, subject, count(*), sum(bytes) from taken group by 1, 2, 3, 4 order by 1, 2, 3, 4
      on conflict (environment_id, hour, stream, subject)
      do update set messages = known.messages + excluded.messages, bytes = known.bytes + excluded.bytes
    )
    select count(*)::int as count from taken`,
};

/** Stores published messages and their hourly counts. */
@Injectable()
export class NatsStore {
  constructor(private readonly database: Database) {}

  async append(publishes: readonly Publish[]): Promise<void> {
    const column = <K extends keyof Publish>(key: K): Publish[K][] => publishes.map((publish) => publish[key]);
    const times = publishes.map(({ atMs }) => new Date(atMs));
    await this.database.query(APPEND, [
      column('environmentId'),
      column('stream'),
      column('subject'),
      column('bytes'),
      times,
    ]);
  }

  /** Counts at most `limit` messages and returns the number of messages counted. */
  async fold(limit: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(FOLD, [limit]);
    return row?.count ?? 0;
  }

  /** Returns an environment's counts after a position, newest first. Uses the index nats_subject_hours_pkey. */
  async list(
    environmentId: number,
    { after, limit }: { after: Place | null; limit: number },
  ): Promise<NatsSubjectHourEntity[]> {
    const rows = this.database.manager().createQueryBuilder(NatsSubjectHourEntity, 'counts').where({ environmentId });
    if (after) rows.andWhere('(counts.hour, counts.stream, counts.subject) < (:hour, :stream, :subject)', after);
    return rows
      .orderBy({ 'counts.hour': 'DESC', 'counts.stream': 'DESC', 'counts.subject': 'DESC' })
      .limit(limit)
      .getMany();
  }

  /** Deletes the counts of hours before `hour`. Uses the index nats_subject_hours_hour_idx. */
  async forgetBefore(hour: Date): Promise<void> {
    await this.database.manager().delete(NatsSubjectHourEntity, { hour: LessThan(hour) });
  }
}
