import { Injectable } from '@nestjs/common';
import { dateOf, expiryDay } from '#engine/expiry-day.js';
import { EMAIL_STATUSES, type EmailStatus, type HandingOver } from '#engine/mail/recipient-state.js';
import { type BoundStatement, Database, type Statement } from '#kernel/database/database.js';
import {
  booleanArray,
  dateArray,
  intArray,
  jsonbArray,
  textArray,
  timestampArray,
  uuidArray,
} from '#kernel/database/pg-array.js';
import { type Id, idTimeMs, parseId } from '#kernel/ids.js';
import type { EmailEntity } from './email.entities.js';
import { HOLDS } from './suppressions.store.js';

export type ShownStatus = (typeof SHOWN_STATUSES)[number];

/** Value of `signature` for an email that is not signed yet. */
export const NOT_SIGNED = '';

export const SHOWN_STATUSES = ['scheduled', ...EMAIL_STATUSES] as const;

/** A row to insert. `expiresOnDay` is in days since the epoch. */
export interface NewEmail extends Omit<EmailEntity, 'expiresOn' | 'version' | 'erasedAt' | 'providerMessageId'> {
  expiresOnDay: number;
}

export interface EmailRow extends Pick<EmailEntity, 'id' | 'sender' | 'to' | 'subject' | 'messageId' | 'scheduledAt'> {
  status: ShownStatus;
  progress: EmailProgress | null;
}

/** Progress of an email with the status `sending`. Null for any other status. */
export type EmailProgress = 'queued' | 'sent' | 'delivery_delayed';

export interface EmailRecord extends Omit<NewEmail, 'environmentId' | 'expiresOnDay' | 'status'> {
  status: ShownStatus;
  progress: EmailProgress | null;
  expiresOn: EmailEntity['expiresOn'];
  /** The delivery that sends the email. Null if it does not exist yet. */
  handingOver: HandingOver | null;
  erasedAt: EmailEntity['erasedAt'];
}

export interface EmailState extends Pick<
  EmailRecord,
  | 'id'
  | 'expiresOn'
  | 'sender'
  | 'returnPathHost'
  | 'isCaptured'
  | 'originalSender'
  | 'signature'
  | 'sizeBytes'
  | 'recipients'
  | 'timeline'
  | 'erasedAt'
> {
  version: number;
  /** Keys (`suppressionKey`) of recipients whose addresses are currently suppressed. */
  suppressed: readonly string[];
}

/** The signature to store for an email that is not signed yet. */
export interface SignedEmail extends Pick<EmailEntity, 'id' | 'expiresOn'> {
  environmentId: number;
  signature: string;
}

export interface EmailPlace {
  environmentId: number;
  id: Id;
  /** Expiry day, in days since the epoch. */
  expiresOnDay: number;
}

/** A change that is applied only if the row is unchanged since it was read (optimistic lock). */
export interface EmailChange {
  environmentId: number;
  state: EmailState;
  after: Pick<NewEmail, 'recipients' | 'timeline' | 'status' | 'isOwed'>;
}

/** Filter of an email list. The ids limit the time range. */
export interface EmailFilter {
  environmentId: number;
  beforeId: Id;
  fromId: Id;
  /** If true, returns the emails after `fromId`, oldest first. Otherwise, those before `beforeId`, newest first. */
  isAscending?: boolean;
  status?: ShownStatus;
  targetId: Id;
  tag?: { name: string; value?: string };
  /** Email address of a recipient, compared case-insensitively. */
  recipient?: string;
}

const DAY_MS = 86_400_000;
/** Maximum retention that PATCH /v1/org accepts. */
const RETENTION_DAYS_MAX = 365;

/**
 * Inserts emails. `unnest` is in the select list. In `from`, PostgreSQL would first store the elements of each array in a
 * temporary table, which took 40 % more CPU time for groups of 30 emails.
 */
const INSERT: Statement = {
  name: 'emails_insert',
  text: `
    insert into emails (environment_id, id, expires_on, sender, to_list, cc, bcc, reply_to,
      subject, message_id, return_path_host, is_captured, tags, attachments,
      size_bytes, recipients, timeline, status, is_owed, scheduled_at,
      template_id, template_version, original_sender, signature, version)
    select unnest($1::int[]), unnest($2::uuid[]), unnest($3::date[]), unnest($4::text[]),
      string_to_array(unnest($5::text[]), E'\\n'), string_to_array(unnest($6::text[]), E'\\n'),
      string_to_array(unnest($7::text[]), E'\\n'), string_to_array(unnest($8::text[]), E'\\n'),
      unnest($9::text[]), unnest($10::text[]), unnest($11::text[]), unnest($12::boolean[]), unnest($13::jsonb[]),
      unnest($14::jsonb[]), unnest($15::int[]), unnest($16::jsonb[]), unnest($17::jsonb[]), unnest($18::text[]),
      unnest($19::boolean[]), unnest($20::timestamptz[]), unnest($21::uuid[]), unnest($22::int[]), unnest($23::text[]),
      unnest($24::text[]), 1`,
};

/**
 * SQL expression: the email's suppressed recipients. Looks up each address in suppressions_address_idx. With `collate
 * "C"`, `lower` changes only ASCII letters, which is enough because stored domains are A-labels. The index requires
 * `collate "default"`.
 */
const SUPPRESSED = `
  array(select s.address from jsonb_array_elements(e.recipients) r cross join lateral (
    select address from suppressions where environment_id = e.environment_id and address = lower((r ->> 'address') collate "C") collate "default" and ${HOLDS} offset 0
  ) s)`;

const STATE_COLUMNS = `
  e.id, e.expires_on::text as "expiresOn", e.sender, e.return_path_host as "returnPathHost", e.is_captured as "isCaptured", e.recipients, e.timeline,
  e.erased_at as "erasedAt", e.original_sender as "originalSender", e.signature,
  e.size_bytes as "sizeBytes", e.version, ${SUPPRESSED} as suppressed`;

/** Uses the index emails_pkey of one partition per email. */
const STATES: Statement = {
  name: 'emails_states',
  text: `
    select i.n::int - 1 as place, ${STATE_COLUMNS}
    from unnest($1::int[], $2::uuid[], $3::date[]) with ordinality as i(environment_id, id, expires_on, n)
    join emails e on e.environment_id = i.environment_id and e.id = i.id and e.expires_on = i.expires_on`,
};

/** Finds emails that are not in the expected partition. Uses emails_pkey with one lookup in each partition. */
const STATE: Statement = {
  name: 'emails_state',
  text: `select ${STATE_COLUMNS} from emails e where e.environment_id = $1 and e.id = $2`,
};

/** Uses the index emails_pkey of one partition per email. Returns no row on an optimistic-lock conflict. */
const CHANGE: Statement = {
  name: 'emails_change',
  text: `
    update emails e set recipients = i.recipients, timeline = i.timeline, status = i.status, is_owed = i.is_owed,
      version = e.version + 1
    from unnest($1::int[], $2::uuid[], $3::date[], $4::int[], $5::jsonb[], $6::jsonb[], $7::text[],
      $8::boolean[]) with ordinality
      as i(environment_id, id, expires_on, version, recipients, timeline, status, is_owed, n)
    where e.environment_id = i.environment_id and e.id = i.id and e.expires_on = i.expires_on
      and e.version = i.version and e.erased_at is null
    returning i.n::int - 1 as place`,
};

/**
 * Stores the id that a provider assigned to an email. Uses the index emails_pkey of one partition. A redrive or a
 * replay may overwrite the id: by then, all notifications about the earlier submission have arrived.
 */
const TAKEN_AS: Statement = {
  name: 'emails_taken_as',
  text: 'update emails set provider_message_id = $4 where environment_id = $1 and id = $2 and expires_on = $3::date',
};

/**
 * Stores signatures. Skips emails that another process has signed. Uses the index emails_pkey of one partition per
 * email.
 */
const SIGN: Statement = {
  name: 'emails_sign',
  text: `
    update emails e set signature = i.signature, size_bytes = e.size_bytes + octet_length(i.signature)
    from unnest($1::int[], $2::uuid[], $3::date[], $4::text[]) with ordinality
      as i(environment_id, id, expires_on, signature, n)
    where e.environment_id = i.environment_id and e.id = i.id and e.expires_on = i.expires_on
      and e.signature = '' and e.erased_at is null
    returning i.n::int - 1 as place`,
};

/** Uses the index emails_pkey. Clears the recipients' addresses, so that nothing can be sent any more. */
const ERASE: Statement = {
  name: 'emails_erase',
  text: `
    update emails set sender = '', to_list = '{}', cc = '{}', bcc = '{}', reply_to = '{}', subject = '',
      message_id = '', tags = '[]', attachments = '[]', original_sender = null, signature = null,
      recipients = coalesce((select jsonb_agg(r || '{"address": "", "detail": null}' order by n)
        from jsonb_array_elements(recipients) with ordinality as x(r, n)), '[]'),
      timeline = coalesce((select jsonb_agg(t || '{"recipient": "", "detail": null}' order by n)
        from jsonb_array_elements(timeline) with ordinality as x(t, n)), '[]'),
      version = version + 1, erased_at = now()
    where environment_id = $1 and id = $2 and erased_at is null returning 1 as erased`,
};

/**
 * SQL expression: the status of the email's delivery. Uses due_deliveries_pkey and deliveries_pkey in scalar
 * subqueries, because the planner may turn an `exists` into a hash of all open deliveries.
 */
const HANDING_OVER = `
  coalesce((
    select 'retrying' from due_deliveries o
    where o.environment_id = e.environment_id and o.event_id = e.id and not o.superseded limit 1
  ), (
    select case when bool_or(s.status = 'dlq') then 'dlq' when bool_or(s.status = 'failed') then 'failed' else 'delivered' end
    from deliveries s
    where s.environment_id = e.environment_id and s.event_id = e.id and s.expires_on = e.expires_on and not s.superseded
    having count(*) > 0
  ))`;

/** SQL equivalent of `emailStatus`. Until every recipient has a final state, the status depends on the delivery. */
const STATUS = `
  case when e.status in ('complained', 'bounced') or not e.is_owed then e.status
       else case ${HANDING_OVER} when 'dlq' then 'dlq' when 'failed' then 'failed' else e.status end end`;

/** True if the email was accepted, that is, if its event exists. Uses the index events_pkey. */
const ACCEPTED = `(
  select true from events v where v.environment_id = e.environment_id and v.id = e.id and v.expires_on = e.expires_on)`;

/**
 * SQL expression: progress of an email with the status `sending`. A recipient that is still `sending` and has a
 * `detail` was deferred.
 */
const PROGRESS = `
  case when e.status = 'sending' then (
    select case when bool_or(r ->> 'state' = 'sending' and r ->> 'detail' is not null) then 'delivery_delayed'
                when bool_or(r ->> 'state' = 'sent') then 'sent' else 'queued' end
    from jsonb_array_elements(e.recipients) r) end`;

const ROW = `e.id, e.sender, e.to_list as "to", e.subject, e.message_id as "messageId", ${STATUS} as status, e.scheduled_at as "scheduledAt", ${PROGRESS} as progress`;
const RANGE = (id: string): string => `${id} < $2 and ${id} >= $3`;

const SCHEDULED_ROW = `s.id, s.sender, s.to_list as "to", s.subject, s.message_id as "messageId", 'scheduled' as status, s.due_at as "scheduledAt", null::text as progress`;

/** Uses the index scheduled_emails_pkey. */
const SCHEDULED = `
  select ${SCHEDULED_ROW}
  from scheduled_emails s where s.environment_id = $1 and ${RANGE('s.id')} order by s.id desc limit $4`;

/**
 * Lists accepted and scheduled emails. Reads both tables in one statement, so that an email that is moved from one to
 * the other appears exactly once. Uses the indexes emails_pkey and scheduled_emails_pkey.
 */
const LIST: Statement = {
  name: 'emails_list',
  text: `
    select * from (
      (select ${ROW} from emails e where e.environment_id = $1 and ${RANGE('e.id')} and ${ACCEPTED} order by e.id desc
        limit $4) union all (${SCHEDULED})
    ) e order by id desc limit $4`,
};

/** Lists the emails directly after an id. Uses the indexes emails_pkey and scheduled_emails_pkey. */
const LIST_ASCENDING: Statement = {
  name: 'emails_list_ascending',
  text: `
    select * from (
      (select ${ROW} from emails e where e.environment_id = $1 and ${RANGE('e.id')} and ${ACCEPTED} order by e.id
        limit $4)
      union all
      (select ${SCHEDULED_ROW} from scheduled_emails s where s.environment_id = $1 and ${RANGE('s.id')} order by s.id
        limit $4)
    ) e order by id limit $4`,
};

const LIST_SCHEDULED: Statement = { name: 'emails_list_scheduled', text: SCHEDULED };

const OF_STATUS = `select id, expires_on from emails where environment_id = $1 and ${RANGE('id')} and status =`;
const OF_TARGET = `select event_id, expires_on from deliveries where environment_id = $1 and target_id = $5 and not superseded and ${RANGE('event_id')} and status =`;

/**
 * Returns SQL for the smallest indexed set that contains all emails with a status. Uses emails_status_idx, and
 * deliveries_target_id_idx for emails that are no longer retried.
 */
function candidates(status: EmailStatus): string {
  const few = (text: string, id: string): string => `(${text} order by ${id} desc limit $4)`;
  if (status === 'dlq') return few(`${OF_TARGET} 'dlq'`, 'event_id');
  const ofStatus = few(`${OF_STATUS} '${status}'`, 'id');
  return status === 'failed' ? `${ofStatus} union ${few(`${OF_TARGET} 'failed'`, 'event_id')}` : ofStatus;
}

/**
 * Statement that lists emails by status. Reads a limited number of emails that may have the status, and returns those
 * that do.
 */
const listOf = (status: EmailStatus): Statement => ({
  name: `emails_list_${status}`,
  text: `
    with unused as (select $5::uuid), c as materialized (select * from (${candidates(status)}) c(id, expires_on)
      order by id desc limit $4)
    select c.id as candidate, e.* from c left join lateral (
      select ${ROW} from emails e where e.environment_id = $1 and e.id = c.id and e.expires_on = c.expires_on
        and ${ACCEPTED} offset 0
    ) e on e.status = '${status}'
    order by c.id desc`,
});

const LISTS = new Map(EMAIL_STATUSES.map((status) => [status, listOf(status)]));

const TRAITS = (tags: string, recipients: string): string => `
  ($6::jsonb is null or ${tags} @> $6) and ($7::text is null or exists (select from jsonb_array_elements(${recipients}) r where lower(r->>'address') = $7))`;

/**
 * Statement for filters without an index, such as tags. Scans a limited number of emails with emails_pkey and
 * scheduled_emails_pkey, or with the indexes for a status.
 */
const foundOf = (status: ShownStatus | null): Statement => {
  const scheduled = `(select s.id, null::date as expires_on from scheduled_emails s where s.environment_id = $1 and ${RANGE('s.id')} order by s.id desc limit $4)`;
  const any = `(select id, expires_on from emails where environment_id = $1 and ${RANGE('id')} order by id desc limit $4) union all ${scheduled}`;
  const among = status === null ? any : status === 'scheduled' ? scheduled : candidates(status);
  return {
    name: `emails_found_${status ?? 'any'}`,
    text: `
      with unused as (select $5::uuid), c as materialized (select * from (${among}) c(id, expires_on) order by id desc
        limit $4)
      select c.id as candidate, e.* from c left join lateral (
        (select ${ROW} from emails e
         where e.environment_id = $1 and e.id = c.id and e.expires_on = c.expires_on
           and ${TRAITS('e.tags', 'e.recipients')} and ${ACCEPTED} offset 0)
        union all
        (select ${SCHEDULED_ROW} from scheduled_emails s
         where c.expires_on is null and s.environment_id = $1 and s.id = c.id
           and ${TRAITS(`(s.draft->'tags')`, `(s.draft->'to' || (s.draft->'cc') || (s.draft->'bcc'))`)} offset 0)
      ) e on ${status === null ? 'true' : `e.status = '${status}'`}
      order by c.id desc`,
  };
};

const FOUND = new Map([null, ...SHOWN_STATUSES].map((status) => [status, foundOf(status)]));

const FIND: Statement = {
  name: 'emails_find',
  text: `
    select e.id, e.expires_on::text as "expiresOn", e.sender, e.to_list as "to", e.cc, e.bcc, e.reply_to as "replyTo",
      e.subject, e.message_id as "messageId",
           e.return_path_host as "returnPathHost", e.is_captured as "isCaptured",
             e.original_sender as "originalSender", e.signature, e.tags, e.attachments, e.size_bytes as "sizeBytes",
           e.recipients, e.timeline, e.is_owed as "isOwed", e.scheduled_at as "scheduledAt",
             e.erased_at as "erasedAt", e.template_id as "templateId", e.template_version as "templateVersion",
           ${PROGRESS} as progress, ${STATUS} as status, ${HANDING_OVER} as "handingOver"
    from emails e where e.environment_id = $1 and e.id = $2 and ${ACCEPTED}`,
};

/** Reads the retention of all environments. Scans the table environments once. */
const RETENTIONS: Statement = {
  name: 'emails_retentions',
  text: 'select distinct retention_days as days from environments order by 1',
};

/**
 * Selects emails that have no event and expire on a given day. Uses emails_pkey for each environment, and events_pkey
 * for each row. The day is a literal, so that only that day's partitions are planned and locked. Locks on all
 * partitions would block the removal of an old partition.
 */
const orphansOf = (day: string): Statement => ({
  name: '',
  text: `
    select e.* from environments n cross join lateral (
      select e.environment_id as "environmentId", e.id from emails e
      where e.environment_id = n.id and e.expires_on = date '${day}' and e.id >= $1 and e.id < $2
        and (select true from events v where v.environment_id = e.environment_id and v.id = e.id
          and v.expires_on = date '${day}') is null limit $3
    ) e limit $3`,
});

/** Finds an email's environment. Searches the partition that each environment's retention implies. Uses emails_pkey. */
const ENVIRONMENT_OF_DAY: Statement = {
  name: 'emails_environment_of_day',
  text: `
    select n.id as "environmentId" from environments n cross join lateral (
      select from emails e where e.environment_id = n.id and e.id = $1
        and e.expires_on = ($2::date[])[n.retention_days] limit 1
    ) e limit 1`,
};

/**
 * Finds an email's environment in all partitions, because an email may be sent later than its id says, or retention may
 * change. Uses emails_pkey.
 */
const ENVIRONMENT_OF: Statement = {
  name: 'emails_environment_of',
  text: `
    select n.id as "environmentId" from environments n cross join lateral (
      select from emails e where e.environment_id = n.id and e.id = $1 limit 1
    ) e limit 1`,
};

/** Uses the index emails_provider_message_id_idx, one lookup in each partition. */
const OF_PROVIDER: Statement = {
  name: 'emails_of_provider',
  text: 'select environment_id as "environmentId", id as "emailId" from emails where provider_message_id = $1 limit 1',
};

/**
 * Finds the email with a Message-ID. Posthorn's own Message-IDs contain the email's id (emails_pkey). A Message-ID set
 * by a provider contains the id that the provider assigned to the email (emails_provider_message_id_idx).
 */
const OF_MESSAGE_IDS: Statement = {
  name: 'emails_of_message_ids',
  text: `
    select e.id from unnest($2::uuid[], $3::text[], $4::text[]) with ordinality as i(id, message_id, provider_id, n)
    cross join lateral (
      select e.id from emails e where e.environment_id = $1 and e.id = i.id and e.message_id = i.message_id
      union all
      select e.id from emails e where e.provider_message_id = i.provider_id and e.environment_id = $1
    ) e order by i.n limit 1`,
};

/** Uses the index emails_pkey. */
const DROP: Statement = { name: 'emails_drop', text: 'delete from emails where environment_id = $1 and id = $2' };

/**
 * An email that a filtered list scanned. If the email does not match the filters, all columns except `candidate` are
 * null.
 */
type Candidate = { candidate: Id } & { [K in keyof EmailRow]: EmailRow[K] | null };

function among(found: readonly Candidate[], candidatesMax: number): { rows: EmailRow[]; floor: Id | null } {
  const rows = found.filter(({ id }) => id !== null) as unknown as EmailRow[];
  return { rows, floor: found.length < candidatesMax ? null : (found.at(-1)?.candidate ?? null) };
}

@Injectable()
export class EmailsStore {
  constructor(private readonly database: Database) {}

  /** Inserts an email in the caller's transaction. The email is accepted only once its event exists. */
  async insert(email: NewEmail): Promise<void> {
    const { statement, values } = this.insertOf([email]);
    await this.database.query(statement, values);
  }

  /** Returns the statement that inserts emails. */
  insertOf(emails: readonly NewEmail[]): BoundStatement {
    const column = <K extends keyof NewEmail>(name: K): NewEmail[K][] => emails.map((email) => email[name]);
    // Joins mailboxes by line feeds, which parsed mailboxes cannot contain.
    const lists = (name: 'to' | 'cc' | 'bcc' | 'replyTo'): Buffer =>
      textArray(emails.map((email) => email[name].join('\n')));
    const json = (name: 'tags' | 'attachments' | 'recipients' | 'timeline'): Buffer =>
      jsonbArray(emails.map((email) => JSON.stringify(email[name])));
    const values = [
      intArray(column('environmentId')),
      uuidArray(column('id')),
      dateArray(column('expiresOnDay')),
      textArray(column('sender')),
      lists('to'),
      lists('cc'),
      lists('bcc'),
      lists('replyTo'),
      textArray(column('subject')),
      textArray(column('messageId')),
      textArray(column('returnPathHost')),
      booleanArray(column('isCaptured')),
      json('tags'),
      json('attachments'),
      intArray(column('sizeBytes')),
      json('recipients'),
      json('timeline'),
      textArray(column('status')),
      booleanArray(column('isOwed')),
      timestampArray(column('scheduledAt').map((at) => at && at.getTime())),
      uuidArray(column('templateId')),
      intArray(column('templateVersion')),
      textArray(column('originalSender')),
      textArray(column('signature')),
    ];
    return { statement: INSERT, values };
  }

  /**
   * Returns the state of each email, in order. Null for an email that is not in the partition of its `expiresOnDay`.
   */
  async statesAt(places: readonly EmailPlace[]): Promise<(EmailState | null)[]> {
    const rows = await this.database.queryPrepared<EmailState & { place: number }>(STATES, [
      intArray(places.map(({ environmentId }) => environmentId)),
      uuidArray(places.map(({ id }) => id)),
      dateArray(places.map(({ expiresOnDay }) => expiresOnDay)),
    ]);
    const found = new Map(rows.map(({ place, ...state }) => [place, state]));
    return places.map((_, place) => found.get(place) ?? null);
  }

  /** Returns an email's state. Searches all partitions. Null if this environment has no such email. */
  async state(environmentId: number, id: Id): Promise<EmailState | null> {
    const [row] = await this.database.queryPrepared<EmailState>(STATE, [environmentId, id]);
    return row ?? null;
  }

  /**
   * Applies changes to emails. Returns a result for each change, in order: false on an optimistic-lock conflict. Of two
   * changes to the same email, only one is applied. Runs inside the caller's transaction if there is one.
   */
  async change(changes: readonly EmailChange[], isInTransaction: boolean): Promise<boolean[]> {
    const values = [
      intArray(changes.map(({ environmentId }) => environmentId)),
      uuidArray(changes.map(({ state }) => state.id)),
      dateArray(changes.map(({ state }) => Date.parse(state.expiresOn) / DAY_MS)),
      intArray(changes.map(({ state }) => state.version)),
      jsonbArray(changes.map(({ after }) => JSON.stringify(after.recipients))),
      jsonbArray(changes.map(({ after }) => JSON.stringify(after.timeline))),
      textArray(changes.map(({ after }) => after.status)),
      booleanArray(changes.map(({ after }) => after.isOwed)),
    ];
    const made = await (isInTransaction
      ? this.database.query<{ place: number }>(CHANGE, values)
      : this.database.queryPrepared<{ place: number }>(CHANGE, values));
    const places = new Set(made.map(({ place }) => place));
    return changes.map((_, place) => places.has(place));
  }

  /** Stores the signatures of emails. Returns a result for each, in order: false if it already has a signature. */
  async sign(signed: readonly SignedEmail[]): Promise<boolean[]> {
    const rows = await this.database.queryPrepared<{ place: number }>(SIGN, [
      intArray(signed.map(({ environmentId }) => environmentId)),
      uuidArray(signed.map(({ id }) => id)),
      dateArray(signed.map(({ expiresOn }) => Date.parse(expiresOn) / DAY_MS)),
      textArray(signed.map(({ signature }) => signature)),
    ]);
    const places = new Set(rows.map(({ place }) => place));
    return signed.map((_, place) => places.has(place));
  }

  async takenAs(
    environmentId: number,
    { id, expiresOn }: Pick<EmailState, 'id' | 'expiresOn'>,
    providerMessageId: string,
  ): Promise<void> {
    await this.database.queryPrepared(TAKEN_AS, [environmentId, id, expiresOn, providerMessageId]);
  }

  /** Erases an email. Returns false if it does not exist or was already erased. */
  async erase(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.queryPrepared(ERASE, [environmentId, id])).length > 0;
  }

  /** Lists emails, newest first, or oldest first if the filter is ascending. */
  list({ environmentId, beforeId, fromId, isAscending }: EmailFilter, limit: number): Promise<EmailRow[]> {
    const statement = isAscending === true ? LIST_ASCENDING : LIST;
    return this.database.readPrepared(statement, [environmentId, beforeId, fromId, limit]);
  }

  /** Lists scheduled emails, newest first. */
  listScheduled({ environmentId, beforeId, fromId }: EmailFilter, limit: number): Promise<EmailRow[]> {
    return this.database.readPrepared(LIST_SCHEDULED, [environmentId, beforeId, fromId, limit]);
  }

  /**
   * Lists emails by status, newest first. Scans up to `candidatesMax` emails. `floor` is the last scanned id, if more
   * may follow.
   */
  async listOf(
    status: EmailStatus,
    { environmentId, beforeId, fromId, targetId }: EmailFilter,
    candidatesMax: number,
  ): Promise<{ rows: EmailRow[]; floor: Id | null }> {
    return among(
      await this.database.readPrepared<Candidate>(LISTS.get(status) as Statement, [
        environmentId,
        beforeId,
        fromId,
        candidatesMax,
        targetId,
      ]),
      candidatesMax,
    );
  }

  /**
   * Lists emails by tag, recipient or both. Scans up to `candidatesMax` emails of the given status, or of any status if
   * none is given.
   */
  async withTraits(
    { environmentId, beforeId, fromId, targetId, status, tag, recipient }: EmailFilter,
    candidatesMax: number,
  ): Promise<{ rows: EmailRow[]; floor: Id | null }> {
    const values = [
      environmentId,
      beforeId,
      fromId,
      candidatesMax,
      targetId,
      tag === undefined ? null : JSON.stringify([tag]),
      recipient?.toLowerCase() ?? null,
    ];
    return among(
      await this.database.readPrepared<Candidate>(FOUND.get(status ?? null) as Statement, values),
      candidatesMax,
    );
  }

  /** Finds an email. Returns null if it does not exist in this environment or was not accepted. */
  async find(environmentId: number, id: Id): Promise<EmailRecord | null> {
    const [row] = await this.database.readPrepared<EmailRecord>(FIND, [environmentId, id]);
    return row ?? null;
  }

  async retentions(): Promise<number[]> {
    return (await this.database.readPrepared<{ days: number }>(RETENTIONS, [])).map(({ days }) => days);
  }

  /** Returns emails without an event that expire on a day (in days since the epoch). Excludes `beforeId` itself. */
  orphans(expiresOnDay: number, fromId: Id, beforeId: Id, limit: number): Promise<{ environmentId: number; id: Id }[]> {
    return this.database.readPrepared(orphansOf(dateOf(expiresOnDay)), [fromId, beforeId, limit]);
  }

  async environmentOf(id: Id): Promise<number | null> {
    const days = Array.from({ length: RETENTION_DAYS_MAX }, (_, i) =>
      expiryDay(Math.floor(idTimeMs(id) / DAY_MS), i + 1),
    );
    const ofDay = await this.database.readPrepared<{ environmentId: number }>(ENVIRONMENT_OF_DAY, [
      id,
      dateArray(days),
    ]);
    const [row] =
      ofDay.length > 0 ? ofDay : await this.database.readPrepared<{ environmentId: number }>(ENVIRONMENT_OF, [id]);
    return row?.environmentId ?? null;
  }

  async ofProvider(providerMessageId: string): Promise<{ environmentId: number; emailId: Id } | null> {
    const [row] = await this.database.readPrepared<{ environmentId: number; emailId: Id }>(OF_PROVIDER, [
      providerMessageId,
    ]);
    return row ?? null;
  }

  /** Looks up Message-IDs in order, and returns the id of the first sent email found. Null if there is none. */
  async ofMessageIds(environmentId: number, messageIds: readonly string[]): Promise<Id | null> {
    const locals = messageIds.map((text) => /^<([^<>@\s]+)@[^<>@\s]+>$/.exec(text)?.[1] ?? '');
    const [row] = await this.database.readPrepared<{ id: Id }>(OF_MESSAGE_IDS, [
      environmentId,
      locals.map((local) => parseId('evt', local)),
      messageIds,
      locals,
    ]);
    return row?.id ?? null;
  }

  async drop(environmentId: number, id: Id): Promise<void> {
    await this.database.queryPrepared(DROP, [environmentId, id]);
  }
}
