import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database/database.js';
import { type Id, lowestIdAt } from '#kernel/ids.js';
import type { InboxMessageEntity } from '../inbox.entities.js';
import type { MessageState } from '../intake/message-row.js';

export interface MessageRow extends Pick<
  InboxMessageEntity,
  'id' | 'state' | 'reason' | 'messageId' | 'envelopeFrom' | 'subject' | 'auth' | 'receivedAt'
> {
  /** Address of the From header. Null until the message is parsed. */
  sender: string | null;
}

/** A received message that replies to a sent email. Any alias may have received it. */
export interface ReplyRow extends MessageRow {
  aliasId: Id;
}

export interface MessageRecord
  extends
    MessageRow,
    Pick<InboxMessageEntity, 'envelopeTo' | 'sizeBytes' | 'spf' | 'dkim' | 'dmarc' | 'dmarcPolicy' | 'spam' | 'virus'>,
    Pick<InboxMessageEntity, 'detail' | 'eventId' | 'erasedAt' | 'inReplyToEmailId'> {
  status: string;
}

export interface MessageRange {
  environmentId: number;
  aliasId: Id;
  beforeId: Id;
  /** Lower bound of the id range, inclusive. */
  fromId?: Id;
  state?: MessageState;
  /** Address of the From header or the envelope sender, case-insensitive. */
  from?: string;
}

/** Maximum number of messages that a filtered page scans. */
const SCANNED_MAX = 2_000;

const ROW = `
  m.id, m.state, m.reason, m.message_id as "messageId", m.envelope_from as "envelopeFrom", m.detail->>'from' as sender, m.subject, m.auth, m.received_at as "receivedAt"`;

/** Reads inbox_messages_alias_id_idx in descending order. */
const LIST: Statement = {
  name: 'inbox_list',
  text: `select ${ROW} from inbox_messages m where m.environment_id = $1 and m.alias_id = $2 and m.id < $3 order by m.id desc limit $4`,
};

/** Uses inbox_messages_in_reply_to_email_id_idx, with one lookup in each partition. */
const REPLIES: Statement = {
  name: 'inbox_replies',
  text: `
    select ${ROW}, m.alias_id as "aliasId" from inbox_messages m
    where m.environment_id = $1 and m.in_reply_to_email_id = $2 and m.id < $3 and m.id >= $4
      and ($5::uuid is null or m.alias_id = $5)
      and ($6::text is null or m.state = $6)
      and ($7::text is null or lower(m.from_address) = $7 or lower(m.envelope_from) = $7)
    order by m.id desc limit $8`,
};

/**
 * Lists an alias's messages that match filters. No index supports the filters, so the statement scans a limited number
 * of messages with inbox_messages_alias_id_idx.
 */
const FOUND: Statement = {
  name: 'inbox_found',
  text: `
    select * from (
      select ${ROW}, row_number() over (order by m.id desc) = ${SCANNED_MAX} as "isLast",
             ($5::text is null or m.state = $5) and ($6::text is null or lower(m.from_address) = $6
               or lower(m.envelope_from) = $6) as "isWanted"
      from (
        select * from inbox_messages where environment_id = $1 and alias_id = $2 and id < $3 and id >= $4
          order by id desc limit ${SCANNED_MAX}
      ) m
    ) scanned
    where "isWanted" or "isLast" order by id desc`,
};

/** SQL expression for the status of the message's event. Uses events_pkey, due_deliveries_pkey and deliveries_pkey. */
const STATUS = `
  case when m.state = 'quarantined' then 'quarantined' when m.state = 'received' then 'received' else coalesce((
    select e.disposition from events e where e.environment_id = m.environment_id and e.id = m.id and e.expires_on = m.expires_on and e.disposition is not null
      and not exists (select 1 from deliveries s where s.environment_id = m.environment_id and s.event_id = m.id and s.expires_on = m.expires_on)
      and not exists (select 1 from due_deliveries o where o.environment_id = m.environment_id and o.event_id = m.id)
  ), (
    select 'retrying' from due_deliveries o where o.environment_id = m.environment_id and o.event_id = m.id and not o.superseded limit 1
  ), (
    select case when bool_or(s.status = 'dlq') then 'dlq' when bool_or(s.status = 'failed') then 'failed' else 'delivered' end
    from deliveries s where s.environment_id = m.environment_id and s.event_id = m.id and s.expires_on = m.expires_on and not s.superseded
    having count(*) > 0
  ), 'retrying') end`;

/** Uses inbox_messages_pkey, with one lookup in each partition. */
const FIND: Statement = {
  name: 'inbox_find',
  text: `
    select ${ROW}, m.envelope_to as "envelopeTo", m.size_bytes as "sizeBytes", m.spf, m.dkim, m.dmarc,
      m.dmarc_policy as "dmarcPolicy", m.spam, m.virus, m.in_reply_to_email_id as "inReplyToEmailId",
           m.detail, m.event_id as "eventId", m.erased_at as "erasedAt", ${STATUS} as status
    from inbox_messages m where m.environment_id = $1 and m.alias_id = $2 and m.id = $3`,
};

/** Uses inbox_messages_pkey. */
const RAW: Statement = {
  name: 'inbox_raw',
  text: 'select raw from inbox_messages where environment_id = $1 and id = $2 and erased_at is null',
};

/** Uses inbox_messages_pkey. */
const IS_KNOWN: Statement = {
  name: 'inbox_is_known',
  text: 'select true as known from inbox_messages where environment_id = $1 and id = $2',
};

/**
 * Erases a message (inbox_messages_pkey). A message that is not parsed yet becomes `processed`, because its bytes are
 * no longer available.
 */
const ERASE: Statement = {
  name: 'inbox_erase',
  text: `
    update inbox_messages set raw = null, detail = null, in_reply_to_email_id = null, envelope_from = '', envelope_to = '{}', client_ip = '',
      helo = '', message_id = null,
      from_address = null, subject = null, sha256 = '', erased_at = now(),
      state = case state when 'received' then 'processed' else state end
    where environment_id = $1 and id = $2 and erased_at is null returning 1 as erased`,
};

/** Uses inbox_messages_pkey. */
const RELEASE: Statement = {
  name: 'inbox_release',
  text: `update inbox_messages set state = 'processed', reason = null where environment_id = $1 and id = $2 and state = 'quarantined' and erased_at is null returning 1 as released`,
};

@Injectable()
export class MessagesStore {
  constructor(private readonly database: Database) {}

  /** Returns messages, newest first. */
  list({ environmentId, aliasId, beforeId }: MessageRange, limit: number): Promise<MessageRow[]> {
    return this.database.readPrepared(LIST, [environmentId, aliasId, beforeId, limit]);
  }

  /** Returns the messages that reply to a sent email, newest first. Without `aliasId`, searches all aliases. */
  replies(
    { environmentId, aliasId, beforeId, fromId, state, from }: Omit<MessageRange, 'aliasId'> & { aliasId?: Id },
    emailId: Id,
    limit: number,
  ): Promise<ReplyRow[]> {
    return this.database.readPrepared(REPLIES, [
      environmentId,
      emailId,
      beforeId,
      fromId ?? lowestIdAt(0),
      aliasId ?? null,
      state ?? null,
      from?.toLowerCase() ?? null,
      limit,
    ]);
  }

  /**
   * Returns filtered messages, newest first. `floor` is the id of the last scanned message if there may be more,
   * otherwise null.
   */
  async found({
    environmentId,
    aliasId,
    beforeId,
    fromId,
    state,
    from,
  }: MessageRange): Promise<{ rows: MessageRow[]; floor: Id | null }> {
    const values = [
      environmentId,
      aliasId,
      beforeId,
      fromId ?? lowestIdAt(0),
      state ?? null,
      from?.toLowerCase() ?? null,
    ];
    const scanned = await this.database.readPrepared<MessageRow & { isWanted: boolean; isLast: boolean }>(
      FOUND,
      values,
    );
    return {
      rows: scanned.filter(({ isWanted }) => isWanted),
      floor: scanned.find(({ isLast }) => isLast)?.id ?? null,
    };
  }

  /** Returns a message, or null if the alias does not have it. `isInTransaction` selects the caller's transaction. */
  async find(environmentId: number, aliasId: Id, id: Id, isInTransaction = false): Promise<MessageRecord | null> {
    const values = [environmentId, aliasId, id];
    const [row] = await (isInTransaction
      ? this.database.query<MessageRecord>(FIND, values)
      : this.database.readPrepared<MessageRecord>(FIND, values));
    return row ?? null;
  }

  /** Returns the bytes stored in a message's row. Null if the message was erased or its bytes are in a blob. */
  async raw(environmentId: number, id: Id): Promise<Buffer | null> {
    const [row] = await this.database.readPrepared<{ raw: Buffer | null }>(RAW, [environmentId, id]);
    return row?.raw ?? null;
  }

  /** Returns true if the message exists, even if it was erased. */
  async isKnown(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.queryPrepared(IS_KNOWN, [environmentId, id])).length > 0;
  }

  /** Releases a message from quarantine in the caller's transaction. Returns false if it is no longer quarantined. */
  async release(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.query(RELEASE, [environmentId, id])).length > 0;
  }

  /** Erases the contents of a message. Returns false if there is no such message, or if it was already erased. */
  async erase(environmentId: number, id: Id): Promise<boolean> {
    return (await this.database.queryPrepared(ERASE, [environmentId, id])).length > 0;
  }
}
