import { Injectable } from '@nestjs/common';
import { type CursorQuery, Cursors, type Page, type PageQuery } from '#kernel/cursors.js';
import { lowestIdAt } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { EmailsService } from '#modules/email/emails.service.js';
import { MessagesStore, type ReplyRow } from './messages.store.js';

const LIMIT_DEFAULT = 50;

/** Lists the received messages that reply to a sent email. */
@Injectable()
export class EmailReplies {
  constructor(
    private readonly emails: EmailsService,
    private readonly messages: MessagesStore,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Returns the replies that any alias received, newest first. Throws 404 for an unknown email, and 400 for an invalid
   * cursor.
   */
  async list(tenant: Tenant, text: string, { cursor, limit = LIMIT_DEFAULT }: PageQuery): Promise<Page<ReplyRow>> {
    const { email } = await this.emails.find(tenant, text);
    const list: CursorQuery = { list: 'replies', filters: { emailId: email.id } };
    const beforeId = cursor === undefined ? lowestIdAt(Infinity) : this.cursors.read(tenant, list, cursor);
    const rows = await this.messages.replies({ environmentId: tenant.environmentId, beforeId }, email.id, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }
}
