import { Injectable } from '@nestjs/common';
import { openNamed } from '#kernel/crypto/sealed-headers.js';
import { Vault } from '#kernel/crypto/vault.js';
import type { PageQuery } from '#kernel/cursors.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { Database, type Statement } from '#kernel/database/database.js';
import { type Id, idTimeMs, lowestIdAt } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { MessageEntity } from '#modules/ledger/ledger.entities.js';
import { type MessageContent, PAYLOAD_SHOWN_BYTES_MAX, type SentMessage } from './messages.contract.js';

const LIMIT_DEFAULT = 50;
const LAST_ID = lowestIdAt(Infinity);

/** Reads the index messages_application_id_idx in descending order. */
const PAGE: Statement = {
  name: 'messages_page',
  text: `
    select id, event_type as "eventType", coalesce(channels, '[]') as channels, fanout, payload_bytes as "payloadBytes"
    from messages where environment_id = $1 and application_id = $2 and id < $3 order by id desc limit $4`,
};

/** Uses the index messages_pkey, with one lookup in each partition. */
const FIND: Statement = {
  name: 'messages_find',
  text: `
    select id, event_type as "eventType", coalesce(channels, '[]') as channels, fanout, payload_bytes as "payloadBytes",
           application_id as "applicationId", headers, case when payload_bytes <= ${PAYLOAD_SHOWN_BYTES_MAX}
             then payload end as payload,
           erased_at as "erasedAt"
    from messages where environment_id = $1 and id = $2`,
};

type ListedRow = Pick<MessageEntity, 'id' | 'eventType' | 'fanout' | 'payloadBytes'> & { channels: string[] };

@Injectable()
export class MessagesStore {
  constructor(
    private readonly database: Database,
    private readonly cursors: Cursors,
    private readonly vault: Vault,
  ) {}

  /** Returns a message, or null if the environment has no such message. */
  async find({ environmentId }: Tenant, id: Id): Promise<MessageContent | null> {
    const [row] = await this.database.readPrepared<
      ListedRow & Pick<MessageEntity, 'applicationId' | 'headers' | 'payload' | 'erasedAt'>
    >(FIND, [environmentId, id]);
    if (!row) return null;
    const headers = row.headers && openNamed(this.vault, { table: 'messages', environmentId, id }, row.headers);
    return { ...row, headers, acceptedAt: new Date(idTimeMs(row.id)) };
  }

  /** Returns messages, newest first. Throws 400 for an invalid cursor. */
  async page(
    tenant: Tenant,
    applicationId: Id,
    { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ messages: SentMessage[]; nextCursor: string | null }> {
    const list: CursorQuery = { list: `messages of ${applicationId}`, filters: {} };
    const beforeId = cursor === undefined ? LAST_ID : this.cursors.read(tenant, list, cursor);
    const rows = await this.database.readPrepared<ListedRow>(PAGE, [
      tenant.environmentId,
      applicationId,
      beforeId,
      limit + 1,
    ]);
    const messages = rows.slice(0, limit).map((row) => ({ ...row, acceptedAt: new Date(idTimeMs(row.id)) }));
    const last = messages.at(-1);
    return { messages, nextCursor: rows.length > limit && last ? this.cursors.issue(tenant, list, last.id) : null };
  }
}
