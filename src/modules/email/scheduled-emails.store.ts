import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import type { Id } from '#kernel/ids.js';
import type { CompleteDraft } from './email-composition.js';
import type { NewEmail } from './emails.store.js';

/** An email that leaves later. */
export interface ScheduledEmail extends Pick<NewEmail, 'environmentId' | 'id' | 'messageId' | 'isCaptured' | 'sender' | 'to' | 'subject'> {
  draft: CompleteDraft;
}

/** One of them as a list shows it, in the words of `EmailRow`. */
export type ScheduledRow = Pick<ScheduledEmail, 'id' | 'messageId' | 'isCaptured' | 'draft'>;

/** Seconds before one that could not be released is tried again, at most. */
const PAUSE_SECONDS_MAX = 300;

const ADD: Statement = {
  name: 'scheduled_emails_add',
  text: `
    insert into scheduled_emails (environment_id, id, due_at, try_at, tries, message_id, is_captured, sender, to_list, subject, draft, files)
    values ($1, $2, $3::timestamptz, $3::timestamptz, 0, $4, $5, $6, $7, $8, $9::jsonb, $10)`,
};

/** scheduled_emails_due_at_idx: one that nobody else holds, the oldest first. Those that failed a moment ago are passed by. */
const CLAIM: Statement = {
  name: 'scheduled_emails_claim',
  text: `
    select environment_id as "environmentId", id, message_id as "messageId", is_captured as "isCaptured", due_at as "dueAt", draft, files
    from scheduled_emails where due_at <= now() and try_at <= now() order by due_at limit 1 for update skip locked`,
};

/** scheduled_emails_pkey. */
const REMOVE: Statement = { name: 'scheduled_emails_remove', text: 'delete from scheduled_emails where environment_id = $1 and id = $2 returning 1 as removed' };

/** scheduled_emails_pkey. */
const POSTPONE: Statement = {
  name: 'scheduled_emails_postpone',
  text: `
    update scheduled_emails set tries = tries + 1, try_at = now() + least(power(2, least(tries, 20)), ${PAUSE_SECONDS_MAX}) * interval '1 second'
    where environment_id = $1 and id = $2`,
};

/** scheduled_emails_pkey. */
const FIND: Statement = {
  name: 'scheduled_emails_find',
  text: 'select id, message_id as "messageId", is_captured as "isCaptured", due_at as "dueAt", draft, files from scheduled_emails where environment_id = $1 and id = $2',
};

/** scheduled_emails_due_at_idx. */
const OVERDUE: Statement = {
  name: 'scheduled_emails_overdue',
  text: 'select greatest(0, extract(epoch from clock_timestamp() - min(due_at)))::float8 as seconds from scheduled_emails',
};

/** A draft as it is stored: the bytes of its files stand beside it, one after the other. */
type StoredDraft = Omit<CompleteDraft, 'attachments' | 'scheduledAt'> & { attachments: { filename: string; contentType: string; contentId: string | null; sizeBytes: number }[] };

interface StoredRow extends Pick<ScheduledEmail, 'id' | 'messageId' | 'isCaptured'> {
  dueAt: Date;
  draft: StoredDraft;
  files: Buffer;
}

/** Statements on emails that leave later. */
@Injectable()
export class ScheduledEmailsStore {
  constructor(private readonly database: Database) {}

  /** In the caller's transaction, when there is one. */
  async add({ environmentId, id, messageId, isCaptured, sender, to, subject, draft }: ScheduledEmail): Promise<void> {
    const { attachments, scheduledAt, ...asked } = draft;
    const stored: StoredDraft = {
      ...asked, attachments: attachments.map(({ filename, contentType, contentId, content }) => ({ filename, contentType, contentId, sizeBytes: content.length })),
    };
    const files = Buffer.concat(attachments.map(({ content }) => content));
    await this.database.query(ADD, [environmentId, id, scheduledAt, messageId, isCaptured, sender, to, subject, JSON.stringify(stored), files]);
  }

  /** One that is due, held by the caller's transaction until that ends; null when there is none that nobody holds. */
  async claim(): Promise<(ScheduledRow & { environmentId: number }) | null> {
    const [row] = await this.database.query<StoredRow & { environmentId: number }>(CLAIM);
    return row === undefined ? null : { environmentId: row.environmentId, ...restored(row) };
  }

  /** False when there is none (any more). Waits for whoever releases it right now. */
  async remove(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.query(REMOVE, [environmentId, id])).length > 0;
  }

  /** It could not be released: again later, with growing pauses of up to five minutes. */
  async postpone(environmentId: number, id: Id): Promise<void> {
    await this.database.query(POSTPONE, [environmentId, id]);
  }

  /** Null when there is none (any more) in this environment. */
  async find(environmentId: number, id: Id): Promise<ScheduledRow | null> {
    const [row] = await this.database.read<StoredRow>(FIND, [environmentId, id]);
    return row === undefined ? null : restored(row);
  }

  /** For how long the oldest one has been due, in seconds; 0 when none is. */
  async overdueSeconds(): Promise<number> {
    const [row] = await this.database.read<{ seconds: number | null }>(OVERDUE, []);
    return row?.seconds ?? 0;
  }
}

function restored({ id, messageId, isCaptured, dueAt, draft, files }: StoredRow): ScheduledRow {
  let at = 0;
  const attachments = draft.attachments.map(({ sizeBytes, ...named }) => ({ ...named, content: files.subarray(at, (at += sizeBytes)) }));
  return { id, messageId, isCaptured, draft: { ...draft, attachments, scheduledAt: dueAt } };
}
