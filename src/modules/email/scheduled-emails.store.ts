import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import type { Id } from '#kernel/ids.js';
import type { CompleteDraft } from './email-draft.js';
import type { NewEmail } from './emails.store.js';

export interface ScheduledEmail extends Pick<
  NewEmail,
  'environmentId' | 'id' | 'messageId' | 'isCaptured' | 'sender' | 'to' | 'subject'
> {
  draft: CompleteDraft;
}

export type ScheduledKey = Pick<ScheduledEmail, 'environmentId' | 'id'>;

export type ScheduledRow = Pick<ScheduledEmail, 'id' | 'messageId' | 'isCaptured' | 'draft'>;

/** Maximum pause before a failed move to `emails` is retried. */
const PAUSE_SECONDS_MAX = 300;

const ADD: Statement = {
  name: 'scheduled_emails_add',
  text: `
    insert into scheduled_emails (environment_id, id, due_at, try_at, tries, message_id, is_captured, sender, to_list,
      subject, draft, files)
    values ($1, $2, $3::timestamptz, $3::timestamptz, 0, $4, $5, $6, $7, $8, $9::jsonb, $10)`,
};

/**
 * Selects due emails in rounds: the oldest email of each environment comes before any environment's second email. Many
 * emails of one environment thus do not delay others. Within a round, the order is random. Skips emails that wait for
 * another try after a failure.
 *
 * If no email is due, a lookup in scheduled_emails_due_at_idx ends the query early. Otherwise the query reads one entry
 * of scheduled_emails_try_at_idx per environment and per selected email.
 */
const DUE: Statement = {
  name: 'scheduled_emails_due',
  text: `
    with recursive scheduling as (
      (select environment_id from scheduled_emails
       where exists (select from scheduled_emails where due_at <= now() and try_at <= now()) order by environment_id
         limit 1)
      union all
      select (select s.environment_id from scheduled_emails s where s.environment_id > g.environment_id
        order by s.environment_id limit 1)
      from scheduling g where g.environment_id is not null
    )
    select d.environment_id as "environmentId", d.id from scheduling g cross join lateral (
      select o.*, row_number() over (order by o.try_at) as place from (
        select s.environment_id, s.id, s.try_at from scheduled_emails s where s.environment_id = g.environment_id
          and s.try_at <= now() order by s.try_at limit $1::int
      ) o
    ) d
    where g.environment_id is not null order by d.place, random() limit $2::int`,
};

/** Milliseconds until the next scheduled email is due. Uses the index scheduled_emails_due_at_idx. */
export const SCHEDULED_IN_MS =
  'select extract(epoch from due_at - now()) * 1000 from scheduled_emails order by due_at limit 1';

/**
 * Locks a scheduled email. Selects no row if the email is locked, already moved to `emails`, or to be retried later.
 * Uses the index scheduled_emails_pkey.
 */
const CLAIM: Statement = {
  name: 'scheduled_emails_claim',
  text: `
    select environment_id as "environmentId", id, message_id as "messageId", is_captured as "isCaptured",
      due_at as "dueAt", draft, files
    from scheduled_emails where environment_id = $1 and id = $2 and try_at <= now() for update skip locked`,
};

/** Uses the index scheduled_emails_pkey. */
const REMOVE: Statement = {
  name: 'scheduled_emails_remove',
  text: 'delete from scheduled_emails where environment_id = $1 and id = $2 returning 1 as removed',
};

/** Waits while another process moves the email to `emails`. Uses the index scheduled_emails_pkey. */
const TAKE: Statement = {
  name: 'scheduled_emails_take',
  text: `
    delete from scheduled_emails where environment_id = $1 and id = $2
    returning id, message_id as "messageId", is_captured as "isCaptured", due_at as "dueAt", draft, files`,
};

/** Waits while another process moves the email to `emails`. Uses the index scheduled_emails_pkey. */
const RESCHEDULE: Statement = {
  name: 'scheduled_emails_reschedule',
  text: `
    with earlier as (select due_at from scheduled_emails where environment_id = $1 and id = $2 for update)
    update scheduled_emails s set due_at = greatest($3::timestamptz, now()), try_at = greatest($3::timestamptz, now()),
      tries = 0
    from earlier where s.environment_id = $1 and s.id = $2
    returning s.due_at as "dueAt", earlier.due_at as "wasDueAt"`,
};

/** Uses the index scheduled_emails_pkey. */
const POSTPONE: Statement = {
  name: 'scheduled_emails_postpone',
  text: `
    update scheduled_emails set tries = tries + 1, try_at = now() + least(power(2, least(tries, 20)),
      ${PAUSE_SECONDS_MAX}) * interval '1 second'
    where environment_id = $1 and id = $2`,
};

/** Uses the index scheduled_emails_pkey. */
const FIND: Statement = {
  name: 'scheduled_emails_find',
  text: 'select id, message_id as "messageId", is_captured as "isCaptured", due_at as "dueAt", draft, files from scheduled_emails where environment_id = $1 and id = $2',
};

/** Uses the index scheduled_emails_due_at_idx. */
const OVERDUE: Statement = {
  name: 'scheduled_emails_overdue',
  text: 'select greatest(0, extract(epoch from clock_timestamp() - min(due_at)))::float8 as seconds from scheduled_emails',
};

/** A draft without the bytes of its attachments, which are stored together in another column. */
type StoredDraft = Omit<CompleteDraft, 'attachments' | 'scheduledAt'> & {
  attachments: { filename: string; contentType: string; contentId: string | null; sizeBytes: number }[];
};

interface StoredRow extends Pick<ScheduledEmail, 'id' | 'messageId' | 'isCaptured'> {
  dueAt: Date;
  draft: StoredDraft;
  files: Buffer;
}

/** The new time of a scheduled email, and its previous time. */
export interface Rescheduling {
  dueAt: Date;
  wasDueAt: Date;
}

@Injectable()
export class ScheduledEmailsStore {
  constructor(private readonly database: Database) {}

  /** Stores a scheduled email, inside the caller's transaction if there is one. */
  async add({ environmentId, id, messageId, isCaptured, sender, to, subject, draft }: ScheduledEmail): Promise<void> {
    const { attachments, scheduledAt, ...asked } = draft;
    const stored: StoredDraft = {
      ...asked,
      attachments: attachments.map(({ filename, contentType, contentId, content }) => ({
        filename,
        contentType,
        contentId,
        sizeBytes: content.length,
      })),
    };
    const files = Buffer.concat(attachments.map(({ content }) => content));
    await this.database.query(ADD, [
      environmentId,
      id,
      scheduledAt,
      messageId,
      isCaptured,
      sender,
      to,
      subject,
      JSON.stringify(stored),
      files,
    ]);
  }

  /** Returns due emails: at most `ofOneMax` per environment and `max` in total. Call `claim` before sending each. */
  due(ofOneMax: number, max: number): Promise<ScheduledKey[]> {
    return this.database.readPrepared(DUE, [ofOneMax, max]);
  }

  /**
   * Locks an email until the transaction ends. Null if the lock is taken, or if the email is already moved to `emails`
   * or postponed.
   */
  async claim({ environmentId, id }: ScheduledKey): Promise<(ScheduledRow & { environmentId: number }) | null> {
    const [row] = await this.database.query<StoredRow & { environmentId: number }>(CLAIM, [environmentId, id]);
    return row === undefined ? null : { environmentId: row.environmentId, ...restored(row) };
  }

  /** Deletes a scheduled email. Returns false if it does not exist. Waits while another process releases the email. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.query(REMOVE, [environmentId, id])).length > 0;
  }

  /** Deletes a scheduled email and returns it, inside the caller's transaction. Returns null if it does not exist. */
  async take(environmentId: number, id: Id): Promise<ScheduledRow | null> {
    const [row] = await this.database.query<StoredRow>(TAKE, [environmentId, id]);
    return row === undefined ? null : restored(row);
  }

  /** Changes the time of a scheduled email. A past time means now. Returns null if the email does not exist. */
  async reschedule(environmentId: number, id: Id, at: Date): Promise<Rescheduling | null> {
    const [row] = await this.database.query<Rescheduling>(RESCHEDULE, [environmentId, id, at]);
    return row ?? null;
  }

  /** Delays the next attempt to move the email to `emails`. The delay grows with each failure, up to five minutes. */
  async postpone(environmentId: number, id: Id): Promise<void> {
    await this.database.query(POSTPONE, [environmentId, id]);
  }

  async find(environmentId: number, id: Id): Promise<ScheduledRow | null> {
    const [row] = await this.database.readPrepared<StoredRow>(FIND, [environmentId, id]);
    return row === undefined ? null : restored(row);
  }

  /** Returns the number of seconds for which the oldest due email has been due, or 0 if none is due. */
  async overdueSeconds(): Promise<number> {
    const [row] = await this.database.readPrepared<{ seconds: number | null }>(OVERDUE, []);
    return row?.seconds ?? 0;
  }
}

function restored({ id, messageId, isCaptured, dueAt, draft, files }: StoredRow): ScheduledRow {
  let at = 0;
  const attachments = draft.attachments.map(({ sizeBytes, ...named }) => ({
    ...named,
    content: files.subarray(at, (at += sizeBytes)),
  }));
  return { id, messageId, isCaptured, draft: { ...draft, attachments, scheduledAt: dueAt } };
}
