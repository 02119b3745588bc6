import { Injectable } from '@nestjs/common';
import { noSuch } from '#kernel/errors.js';
import { type FoundAttachment, ThreadedMailReading } from '../reading/mail-reading-threads.js';
import { MessageBytes } from './message-bytes.js';
import { MessagesStore } from './messages.store.js';
import { SignedLinks } from './signed-links.js';

interface RawMessage {
  chunks: AsyncIterable<Buffer>;
  sizeBytes: number;
}

/** Opens files of messages by signed links. */
@Injectable()
export class MessageFiles {
  constructor(
    private readonly links: SignedLinks,
    private readonly messages: MessagesStore,
    private readonly bytes: MessageBytes,
    private readonly reading: ThreadedMailReading,
  ) {}

  /** Returns the file that a token names. Throws 404 for a bad or expired token or an erased message, 503 when busy. */
  async open(token: string): Promise<RawMessage | FoundAttachment> {
    const linked = this.links.read(token);
    if (linked === null) throw noSuch('file');
    const { environmentId, id, aliasId, part } = linked;
    const row = await this.messages.find(environmentId, aliasId, id);
    if (row === null || row.erasedAt !== null) throw noSuch('file');
    if (part === 'raw') {
      const chunks = await this.bytes.read(environmentId, id, row.sizeBytes);
      if (chunks === null) throw noSuch('file');
      return { chunks, sizeBytes: row.sizeBytes };
    }
    const whole = () => this.bytes.whole(environmentId, id, row.sizeBytes);
    const found = await this.reading.attachment(environmentId, whole, part);
    if (found === null) throw noSuch('file');
    return found;
  }
}
