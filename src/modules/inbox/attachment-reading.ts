import { Injectable } from '@nestjs/common';
import { unavailable } from '#kernel/errors.js';
import type { Id } from '#kernel/ids.js';
import { Places } from '#kernel/places.js';
import { MailThreads } from './mail-threads.js';
import { MessageBytes } from './message-bytes.js';
import type { AttachmentNote } from './parsed-message.js';

/** A file of a message. */
export interface FoundAttachment {
  note: AttachmentNote;
  content: Uint8Array;
}

/** A message, and how many bytes it has. */
interface Whole {
  id: Id;
  sizeBytes: number;
}

/** Messages that are in memory at once for their files, each of some 25 MB and its decoded file. */
const AT_ONCE = 4;
/** Of them, those of one environment. */
const OF_ONE_MAX = 2;
const WAIT_MS_MAX = 5_000;
const ALL = '';

/** Finds files in messages, a few at a time: a message is whole in memory for that, from before its thread has room for it. */
@Injectable()
export class AttachmentReading {
  private readonly places = new Places(AT_ONCE);
  private readonly ofEnvironment = new Places(OF_ONE_MAX);

  constructor(
    private readonly bytes: MessageBytes,
    private readonly threads: MailThreads,
  ) {}

  /** Null where the bytes are gone, or have no such file. Throws 503 where there is no room for it within five seconds. */
  async find(environmentId: number, message: Whole, index: number): Promise<FoundAttachment | null> {
    const read = async (): Promise<{ found: FoundAttachment | null }> => ({ found: await this.read(environmentId, message, index) });
    const ended = await this.ofEnvironment.run(String(environmentId), WAIT_MS_MAX, (leftMs) => this.places.run(ALL, leftMs, read));
    if (ended === null) throw unavailable('Too many attachments are being read. Try again.');
    return ended.found;
  }

  private async read(environmentId: number, { id, sizeBytes }: Whole, index: number): Promise<FoundAttachment | null> {
    const raw = await this.bytes.whole(environmentId, id, sizeBytes);
    return raw === null ? null : this.threads.attachment(environmentId, raw, index);
  }
}
