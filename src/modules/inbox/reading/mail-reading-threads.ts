import { Injectable } from '@nestjs/common';
import { KeyedSemaphore } from '#kernel/concurrency/keyed-semaphore.js';
import { unavailable } from '#kernel/errors.js';
import { type ReadBytes } from '../viewing.contract.js';
import { MailThreads } from './mail-threads.js';
import type { ParsedAttachment, ParsedMessage } from './parsed-message.js';

export interface FoundAttachment {
  note: ParsedAttachment;
  content: Uint8Array;
}

/** Maximum number of messages in memory for API requests. Each needs up to 25 MB, plus its parsed form. */
const AT_ONCE = 4;
const OF_ONE_MAX = 2;
const WAIT_MS_MAX = 5_000;
const ALL = '';

/**
 * Reads messages for API requests. Limits their number, because a message is in memory even while it waits for a
 * thread.
 */
@Injectable()
export class ThreadedMailReading {
  private readonly keyedSemaphore = new KeyedSemaphore(AT_ONCE);
  private readonly ofEnvironment = new KeyedSemaphore(OF_ONE_MAX);

  constructor(private readonly threads: MailThreads) {}

  /** Returns a message's contents, with no text derived from HTML. Null if the bytes were deleted. */
  contents(environmentId: number, bytes: ReadBytes): Promise<ParsedMessage | null> {
    return this.inTurn(environmentId, bytes, (raw) => this.threads.contents(environmentId, raw));
  }

  /** Resolves with the attachment at position `index`. Null if there is none, or if the bytes were deleted. */
  attachment(environmentId: number, bytes: ReadBytes, index: number): Promise<FoundAttachment | null> {
    return this.inTurn(environmentId, bytes, (raw) => this.threads.attachment(environmentId, raw, index));
  }

  /** Returns a message's HTML as a UTF-8 document (`mailDocument`). Null without HTML, or if the bytes were deleted. */
  document(environmentId: number, bytes: ReadBytes): Promise<Uint8Array | null> {
    return this.inTurn(environmentId, bytes, (raw) => this.threads.document(environmentId, raw));
  }

  private async inTurn<A>(
    environmentId: number,
    bytes: ReadBytes,
    read: (raw: Buffer) => Promise<A | null>,
  ): Promise<A | null> {
    const whole = async (): Promise<{ found: A | null }> => {
      const raw = await bytes();
      return { found: raw === null ? null : await read(raw) };
    };
    const ended = await this.ofEnvironment.run(String(environmentId), WAIT_MS_MAX, (leftMs) =>
      this.keyedSemaphore.run(ALL, leftMs, whole),
    );
    if (ended === null) throw unavailable('Too many messages are being read. Try again.');
    return ended.found;
  }
}
