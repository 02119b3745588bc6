import { Injectable } from '@nestjs/common';
import { Config } from '#kernel/config/config.js';
import { type CursorQuery, Cursors, type PageQuery } from '#kernel/cursors.js';
import { noSuch } from '#kernel/errors.js';
import { type Id, lowestIdAt, parseId } from '#kernel/ids.js';
import { queriedMs } from '#kernel/moment.js';
import type { Tenant } from '#kernel/tenant.js';
import { SentEmails } from '#modules/email/sent-emails.js';
import { AliasesService } from '../aliases/aliases.service.js';
import type { MessageState } from '../intake/message-row.js';
import { type FoundAttachment, ThreadedMailReading } from '../reading/mail-reading-threads.js';
import { type AttachmentNote, unparsed } from '../reading/parsed-message.js';
import { type MailView } from '../viewing.contract.js';
import { MessageBytes } from './message-bytes.js';
import { messageView, plannedForwards, type Shown, type ShownForward } from './message-view.js';
import { type MessageRange, type MessageRecord, type MessageRow, MessagesStore } from './messages.store.js';
import { type MessageLinks, plainLinks, SignedLinks } from './signed-links.js';
import { SignedViews } from './signed-views.js';

export interface MessageQuery extends PageQuery {
  state?: MessageState;
  from?: string;
  email_id?: string;
  since?: string;
  until?: string;
}

const LIMIT_DEFAULT = 50;
const LAST_ID = lowestIdAt(Infinity);

@Injectable()
export class MessagesService {
  constructor(
    private readonly aliases: AliasesService,
    private readonly messages: MessagesStore,
    private readonly bytes: MessageBytes,
    private readonly reading: ThreadedMailReading,
    private readonly views: SignedViews,
    private readonly links: SignedLinks,
    private readonly emails: SentEmails,
    private readonly cursors: Cursors,
    private readonly config: Config,
  ) {}

  /** Returns messages, newest first. With filters, a short page may not be the last one. */
  async list(
    tenant: Tenant,
    alias: string,
    { cursor, limit = LIMIT_DEFAULT, ...filters }: MessageQuery,
  ): Promise<{ rows: MessageRow[]; nextCursor: string | null }> {
    const { environmentId, id: aliasId } = await this.aliases.findToRead(tenant, alias);
    const list: CursorQuery = { list: 'messages', filters: { aliasId, ...filters } };
    const { since, until, state, from, email_id: email } = filters;
    const beforeId =
      cursor !== undefined
        ? this.cursors.read(tenant, list, cursor)
        : until === undefined
          ? LAST_ID
          : lowestIdAt(queriedMs(until, 'until') + 1);
    const range: MessageRange = {
      environmentId,
      aliasId,
      beforeId,
      fromId: lowestIdAt(since === undefined ? 0 : queriedMs(since, 'since')),
      state,
      from,
    };
    if (email !== undefined) return this.replies(tenant, list, range, email, limit);
    const isFiltered = [since, state, from].some((filter) => filter !== undefined);
    const { rows, floor } = isFiltered
      ? await this.messages.found(range)
      : { rows: await this.messages.list(range, limit + 1), floor: null };
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1)?.id : floor;
    return { rows: page, nextCursor: last ? this.cursors.issue(tenant, list, last) : null };
  }

  private async replies(
    tenant: Tenant,
    list: CursorQuery,
    range: MessageRange,
    email: string,
    limit: number,
  ): Promise<{ rows: MessageRow[]; nextCursor: string | null }> {
    const emailId = parseId('evt', email);
    const rows = emailId === null ? [] : await this.messages.replies(range, emailId, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }

  /** Returns a message. With `isInTransaction`, reads in the caller's transaction. Throws 404 if it does not exist. */
  async detail(tenant: Tenant, alias: string, text: string, isInTransaction = false): Promise<Record<string, unknown>> {
    const { row, aliasId, address } = await this.row(tenant, alias, text, isInTransaction);
    const forwards = await this.forwardsOf(tenant.environmentId, row);
    const links = plainLinks(this.config.baseUrl, { id: row.id, aliasId });
    return messageView(shownOf(row, aliasId, address), links, forwards);
  }

  /** Returns the original bytes. Throws 404 if the message does not exist or was erased. */
  async raw(
    tenant: Tenant,
    alias: string,
    text: string,
  ): Promise<{ chunks: AsyncIterable<Buffer>; sizeBytes: number }> {
    const { row } = await this.row(tenant, alias, text);
    const chunks = await this.bytes.read(tenant.environmentId, row.id, row.sizeBytes);
    if (chunks === null) throw noSuch('message');
    return { chunks, sizeBytes: row.sizeBytes };
  }

  /** Returns a decoded attachment. Throws 404 if it does not exist, and 503 if there is no capacity to decode it. */
  async attachment(tenant: Tenant, alias: string, text: string, place: string): Promise<FoundAttachment> {
    const { row } = await this.row(tenant, alias, text);
    const index = /^\d{1,4}$/.test(place) ? Number(place) : -1;
    if (row.detail === null || index < 0 || index >= row.detail.attachments.length) throw noSuch('attachment');
    const found = await this.reading.attachment(
      tenant.environmentId,
      () => this.bytes.whole(tenant.environmentId, row.id, row.sizeBytes),
      index,
    );
    if (found === null) throw noSuch('attachment');
    return found;
  }

  /** Returns links to a message's files. They work without a key for `seconds`. Throws 404 for an unknown message. */
  async linksTo(
    tenant: Tenant,
    alias: string,
    text: string,
    seconds: number,
  ): Promise<{ links: MessageLinks & { expiresAt: Date }; attachments: readonly AttachmentNote[] }> {
    const { row, aliasId } = await this.row(tenant, alias, text);
    const links = this.links.issue({ environmentId: tenant.environmentId, id: row.id, aliasId }, seconds);
    return { links, attachments: row.detail?.attachments ?? [] };
  }

  /** Returns a link to a message's HTML. Throws 404 if the message does not exist or has no HTML. */
  async view(tenant: Tenant, alias: string, text: string): Promise<MailView> {
    const { row, aliasId } = await this.row(tenant, alias, text);
    if (row.detail === null || row.detail.html === null) throw noSuch('HTML of this message');
    return this.views.issue({ environmentId: tenant.environmentId, id: row.id, aliasId });
  }

  private forwardsOf(environmentId: number, { detail }: MessageRecord): Promise<ShownForward[]> {
    return Promise.all(
      plannedForwards(detail).map(async (planned) => {
        const state = planned.emailId && (await this.emails.soleRecipientOf(environmentId, planned.emailId));
        return { ...planned, ...state };
      }),
    );
  }

  private async row(
    tenant: Tenant,
    alias: string,
    text: string,
    isInTransaction = false,
  ): Promise<{ row: MessageRecord; aliasId: Id; address: string }> {
    const { id: aliasId, address } = await this.aliases.findToRead(tenant, alias);
    const id = parseId('evt', text);
    const row = id === null ? null : await this.messages.find(tenant.environmentId, aliasId, id, isInTransaction);
    if (row === null || row.erasedAt !== null) throw noSuch('message');
    return { row, aliasId, address };
  }
}

/** Builds the API representation. A message that has not been parsed yet has only its envelope data. */
function shownOf(row: MessageRecord, aliasId: Id, address: string): Shown {
  const { auth, spf, dkim, dmarc, dmarcPolicy, spam, virus, detail, envelopeFrom } = row;
  return {
    ...row,
    aliasId,
    address,
    auth: (auth ?? 'none') as Shown['auth'],
    spf: (spf ?? 'none') as Shown['spf'],
    dkim: (dkim ?? 'none') as Shown['dkim'],
    dmarc: (dmarc ?? 'none') as Shown['dmarc'],
    dmarcPolicy: dmarcPolicy as Shown['dmarcPolicy'],
    spam: (spam ?? 'disabled') as Shown['spam'],
    virus: (virus ?? 'disabled') as Shown['virus'],
    detail: detail ?? {
      ...unparsed('It was not read yet.'),
      from: envelopeFrom,
      autoSubmitted: false,
      arc: 'none',
      isParked: false,
    },
  };
}
