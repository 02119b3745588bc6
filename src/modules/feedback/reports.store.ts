import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';

export type ReportSource = 'smtp' | 'ses';

export type ReportState = (typeof REPORT_STATES)[number];

/**
 * - `waiting`: not processed yet.
 * - `recorded`: added to the email's timeline.
 * - `unmatched`: the report matches no email, or no recipient of its email.
 * - `untrusted`: the report names an email, but contains no proof.
 * - `ignored`: the report says nothing about a delivery.
 */
export const REPORT_STATES = ['waiting', 'recorded', 'unmatched', 'untrusted', 'ignored'] as const;

export interface NewReport {
  id: Id;
  environmentId: number | null;
  emailId: Id | null;
  source: ReportSource;
  recipient: string;
  envelopeFrom: string;
  receivedFrom: string;
  /** Digest that identifies repeated copies of a report. */
  digest: Buffer;
  raw: Buffer;
}

export interface ClaimedReport {
  id: Id;
  environmentId: number | null;
  emailId: Id | null;
  source: ReportSource;
  recipient: string;
  envelopeFrom: string;
  failures: number;
}

export interface Settled {
  state: Exclude<ReportState, 'waiting'>;
  kind: string;
  reason: string | null;
  environmentId: number | null;
  emailId: Id | null;
}

export interface ReportRow {
  id: Id;
  environmentId: number | null;
  emailId: Id | null;
  source: ReportSource;
  recipient: string;
  envelopeFrom: string;
  receivedFrom: string;
  sizeBytes: number;
  receivedAt: Date;
  expiresAt: Date;
  state: ReportState;
  kind: string | null;
  reason: string | null;
}

export interface ReportFilter {
  beforeId: Id | null;
  state: ReportState | null;
}

const KEPT_DAYS = 30;
/**
 * Maximum number of waiting reports to the return path of one email, of its `untrusted` reports, and of its other
 * processed reports. Each has its own limit, so that reports without proof never displace proven ones.
 */
const OF_ONE_EMAIL_MAX = 100;
/** Maximum number of waiting reports to an address of the operator. Below the number of due reports that CLAIM reads. */
const WAITING_OF_NOBODY_MAX = 1_000;
/** Maximum number of processed reports that match no email. */
const OF_NOBODY_MAX = 10_000;
const SWEEP_STEP = 200;

const COLUMNS = `
  id, environment_id as "environmentId", email_id as "emailId", source, recipient, envelope_from as "envelopeFrom", received_from as "receivedFrom",
  size_bytes as "sizeBytes", received_at as "receivedAt", expires_at as "expiresAt", state, kind, reason`;

/**
 * Builds a statement that inserts a report if the SQL condition `room` is true. Uses mail_reports_email_idx or
 * mail_reports_due_at_idx, and mail_reports_digest_idx.
 */
const insert = (name: string, room: string): Statement => ({
  name,
  text: `
    insert into mail_reports (id, environment_id, email_id, source, recipient, envelope_from, received_from, digest,
      raw, size_bytes,
                              received_at, expires_at, state, due_at, failures)
    select $1::uuid, $2::int, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::bytea, $9::bytea,
      length($9::bytea), now(),
           now() + least(${KEPT_DAYS}, coalesce((select retention_days from environments where id = $2::int),
             ${KEPT_DAYS})) * interval '1 day', 'waiting', now(), 0
    where ${room}
    on conflict (digest) do nothing returning 1 as kept`,
});

const room = (of: string, max: number): string =>
  `(select count(*) from (select from mail_reports where state = 'waiting' and ${of} limit ${max}) kept) < ${max}`;
const INSERT_OF_EMAIL = insert(
  'mail_reports_insert_of_email',
  room('environment_id = $2::int and email_id = $3::uuid', OF_ONE_EMAIL_MAX),
);
const INSERT_OF_NOBODY = insert(
  'mail_reports_insert_of_nobody',
  room(`environment_id is null and source = 'smtp'`, WAITING_OF_NOBODY_MAX),
);
/** Inserts without a limit, because only a provider can sign these notifications. */
const INSERT_SIGNED = insert('mail_reports_insert_signed', 'true');

/** Uses mail_reports_digest_idx. */
const IS_KNOWN: Statement = {
  name: 'mail_reports_is_known',
  text: 'select 1 as known from mail_reports where digest = $1',
};

/**
 * Claims a few waiting reports per environment, so that a flood in one environment does not delay others. A claim is a
 * lease: when it expires, another process may claim the report. Processing a report twice changes nothing. Uses
 * mail_reports_due_at_idx.
 */
const CLAIM: Statement = {
  name: 'mail_reports_claim',
  text: `
    with due as (
      select id, environment_id, due_at from mail_reports where state = 'waiting' and due_at <= now() order by due_at
        limit 5000
    ), turn as (
      select id from (
        select *, row_number() over (partition by environment_id order by due_at) as place from due
      ) d where place <= $3::int order by place, due_at limit $2::int
    ), mine as (
      select id from mail_reports where id in (select id from turn) and state = 'waiting' and due_at <= now()
        for update skip locked
    )
    update mail_reports r set due_at = now() + $1::float8 * interval '1 second' from mine where r.id = mine.id
    returning r.id, r.environment_id as "environmentId", r.email_id as "emailId", r.source, r.recipient,
      r.envelope_from as "envelopeFrom", r.failures`,
};

/** Time in ms until the next report can be claimed, for the DueWorkPoller. Uses mail_reports_due_at_idx. */
export const REPORT_IN_MS = `select extract(epoch from due_at - now()) * 1000 from mail_reports where state = 'waiting' order by due_at limit 1`;

/** Uses mail_reports_pkey. */
const RAW: Statement = { name: 'mail_reports_raw', text: 'select raw from mail_reports where id = $1' };
/**
 * Stores the result, and deletes the oldest reports of the email above the limit. Uses mail_reports_pkey and
 * mail_reports_email_idx.
 */
const SETTLE: Statement = {
  name: 'mail_reports_settle',
  text: `
    with surplus as (
      delete from mail_reports where id in (
        select id from mail_reports
        where environment_id = $5 and email_id = $6 and id <> $1 and state <> 'waiting'
          and (state = 'untrusted') = ($2 = 'untrusted')
        order by id desc offset ${OF_ONE_EMAIL_MAX - 1})
    )
    update mail_reports set state = $2, kind = $3, reason = $4, environment_id = $5, email_id = $6 where id = $1 and state = 'waiting'`,
};
/** Deletes the oldest processed reports that match no email. Reads mail_reports_environment_idx in descending order. */
const DROP_UNMATCHED: Statement = {
  name: 'mail_reports_drop_unmatched',
  text: `
    delete from mail_reports where id in (
      select id from mail_reports where environment_id is null and state <> 'waiting'
      order by id desc offset ${OF_NOBODY_MAX} limit ${SWEEP_STEP})`,
};
const AGAIN: Statement = {
  name: 'mail_reports_again',
  text: `update mail_reports set failures = failures + 1, due_at = now() + $2::float8 * interval '1 second' where id = $1 and state = 'waiting'`,
};

/** Uses mail_reports_due_at_idx. */
const OVERDUE: Statement = {
  name: 'mail_reports_overdue',
  text: `select coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as seconds from mail_reports where state = 'waiting' and due_at <= now()`,
};

/** Reads mail_reports_environment_idx in descending order. Filters by state during the scan. */
const PAGE: Statement = {
  name: 'mail_reports_page',
  text: `select ${COLUMNS} from mail_reports where environment_id = $1 and ($2::uuid is null or id < $2) and ($3::text is null or state = $3) order by id desc limit $4`,
};
const FIND: Statement = {
  name: 'mail_reports_find',
  text: `select ${COLUMNS} from mail_reports where environment_id = $1 and id = $2`,
};
const RAW_OF: Statement = {
  name: 'mail_reports_raw_of',
  text: 'select raw, source from mail_reports where environment_id = $1 and id = $2',
};

/** Reads reports of all environments, for the operator. Reads mail_reports_pkey in descending order. */
const UNEXPLAINED: Statement = {
  name: 'mail_reports_unexplained',
  text: `select ${COLUMNS} from mail_reports where state in ('unmatched', 'untrusted') order by id desc limit $1`,
};

/** Uses mail_reports_expires_at_idx. */
const SWEEP: Statement = {
  name: 'mail_reports_sweep',
  text: `delete from mail_reports where id in (select id from mail_reports where expires_at < now() order by expires_at limit ${SWEEP_STEP} for update skip locked) returning 1 as gone`,
};

/** Uses mail_reports_email_idx. */
const ERASE: Statement = {
  name: 'mail_reports_erase',
  text: 'delete from mail_reports where environment_id = $1 and email_id = $2',
};

@Injectable()
export class ReportsStore {
  constructor(private readonly database: Database) {}

  /**
   * Stores a report in a separate commit. Returns `full` if too many reports to the same return path, or to the
   * operator, are waiting.
   */
  async insert(report: NewReport): Promise<'kept' | 'repeated' | 'full'> {
    const { id, environmentId, emailId, source, recipient, envelopeFrom, receivedFrom, digest, raw } = report;
    const statement = source === 'ses' ? INSERT_SIGNED : environmentId === null ? INSERT_OF_NOBODY : INSERT_OF_EMAIL;
    const kept = await this.database.queryPrepared(statement, [
      id,
      environmentId,
      emailId,
      source,
      recipient,
      envelopeFrom,
      receivedFrom,
      digest,
      raw,
    ]);
    if (kept.length > 0) return 'kept';
    return (await this.database.queryPrepared(IS_KNOWN, [digest])).length > 0 ? 'repeated' : 'full';
  }

  claim(seconds: number, max: number, ofOneMax: number): Promise<ClaimedReport[]> {
    return this.database.query(CLAIM, [seconds, max, ofOneMax]);
  }

  /** Returns the bytes of a report, or null if the report has been deleted. */
  async raw(id: Id): Promise<Buffer | null> {
    const [row] = await this.database.query<{ raw: Buffer }>(RAW, [id]);
    return row?.raw ?? null;
  }

  /** Stores the result of a report. Keeps only the newest processed reports of its email. */
  async settle(id: Id, { state, kind, reason, environmentId, emailId }: Settled): Promise<void> {
    await this.database.query(SETTLE, [id, state, kind, reason, environmentId, emailId]);
  }

  /** Keeps only the newest of the processed reports that match no email. */
  async dropUnmatched(): Promise<void> {
    await this.database.query(DROP_UNMATCHED);
  }

  async again(id: Id, seconds: number): Promise<void> {
    await this.database.query(AGAIN, [id, seconds]);
  }

  async overdueSeconds(): Promise<number> {
    const [row] = await this.database.query<{ seconds: number }>(OVERDUE);
    return row?.seconds ?? 0;
  }

  /** Returns reports, newest first. */
  page(environmentId: number, { beforeId, state }: ReportFilter, limit: number): Promise<ReportRow[]> {
    return this.database.readPrepared(PAGE, [environmentId, beforeId, state, limit]);
  }

  async find(environmentId: number, id: Id): Promise<ReportRow | null> {
    const [row] = await this.database.readPrepared<ReportRow>(FIND, [environmentId, id]);
    return row ?? null;
  }

  async rawOf(environmentId: number, id: Id): Promise<Pick<NewReport, 'raw' | 'source'> | null> {
    const [row] = await this.database.readPrepared<Pick<NewReport, 'raw' | 'source'>>(RAW_OF, [environmentId, id]);
    return row ?? null;
  }

  /**
   * Returns the newest unmatched or untrusted reports of all environments, including reports without an environment.
   */
  unexplained(limit: number): Promise<ReportRow[]> {
    return this.database.readPrepared(UNEXPLAINED, [limit]);
  }

  /** Deletes expired reports, one batch per call. Returns true while there may be more to delete. */
  async sweep(): Promise<boolean> {
    return (await this.database.query(SWEEP)).length === SWEEP_STEP;
  }

  async erase(environmentId: number, emailId: Id): Promise<void> {
    await this.database.queryPrepared(ERASE, [environmentId, emailId]);
  }
}
