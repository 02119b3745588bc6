import { Injectable } from '@nestjs/common';
import { noSuch } from '#kernel/errors.js';
import { SentEmails } from '#modules/email/sent-emails.js';
import { ThreadedMailReading } from '../reading/mail-reading-threads.js';
import type { ViewedMessage } from '../viewing.contract.js';
import { MessageBytes } from './message-bytes.js';
import { MessagesStore } from './messages.store.js';
import { SignedViews } from './signed-views.js';

@Injectable()
export class MessageDocuments {
  constructor(
    private readonly views: SignedViews,
    private readonly reading: ThreadedMailReading,
    private readonly messages: MessagesStore,
    private readonly bytes: MessageBytes,
    private readonly emails: SentEmails,
  ) {}

  /** Returns the HTML that a token shows, in UTF-8. Throws 404 for a bad or expired token or an erased message. */
  async findByToken(token: string): Promise<Uint8Array> {
    const viewed = this.views.read(token);
    const document = viewed && (await this.reading.document(viewed.environmentId, () => this.rawOf(viewed)));
    if (document === null) throw noSuch('view');
    return document;
  }

  private async rawOf({ environmentId, id, aliasId }: ViewedMessage): Promise<Buffer | null> {
    if (aliasId === null) return this.emails.rawOf(environmentId, id);
    const row = await this.messages.find(environmentId, aliasId, id);
    return row === null || row.erasedAt !== null ? null : this.bytes.whole(environmentId, id, row.sizeBytes);
  }
}
