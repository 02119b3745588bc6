import { Injectable } from '@nestjs/common';
import { Database, type Statement } from '#kernel/database.js';
import { Cursors, type CursorQuery } from '#kernel/cursors.js';
import { idTimeMs, lowestIdAt, type Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Messages, type PageQuery, type SentMessage } from './reading.contract.js';

const LIMIT_DEFAULT = 50;
/** Behind every id that there can be. */
const LAST_ID = lowestIdAt(Infinity);

/** messages_application_id_idx, backwards. */
const PAGE: Statement = {
  name: 'messages_page',
  text: `
    select id, event_type as "eventType", coalesce(channels, '[]') as channels, fanout, payload_bytes as "payloadBytes"
    from messages where environment_id = $1 and application_id = $2 and id < $3 order by id desc limit $4`,
};

/** Reads messages. */
@Injectable()
export class MessagesStore extends Messages {
  constructor(
    private readonly database: Database,
    private readonly cursors: Cursors,
  ) {
    super();
  }

  override async page(
    tenant: Tenant, applicationId: Id, { cursor, limit = LIMIT_DEFAULT }: PageQuery,
  ): Promise<{ messages: SentMessage[]; nextCursor: string | null }> {
    const list: CursorQuery = { list: `messages of ${applicationId}`, filters: {} };
    const beforeId = cursor === undefined ? LAST_ID : this.cursors.read(tenant, list, cursor);
    const rows = await this.database.read<Omit<SentMessage, 'acceptedAt'>>(PAGE, [tenant.environmentId, applicationId, beforeId, limit + 1]);
    const messages = rows.slice(0, limit).map((row) => ({ ...row, acceptedAt: new Date(idTimeMs(row.id)) }));
    const last = messages.at(-1);
    return { messages, nextCursor: rows.length > limit && last ? this.cursors.issue(tenant, list, last.id) : null };
  }
}
