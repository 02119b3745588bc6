import { Injectable } from '@nestjs/common';
import { headersOf } from '#engine/mail/mime-parts.js';
import type { Id } from '#kernel/ids.js';
import { EmailStates } from './email-states.js';
import { EmailsStore } from './emails.store.js';
import { blobKeyOf, RawEmails } from './raw-emails.js';

@Injectable()
export class SentEmails {
  constructor(
    private readonly states: EmailStates,
    private readonly emails: EmailsStore,
    private readonly raw: RawEmails,
  ) {}

  /** Returns addresses in a stable order. Null if the email was erased or does not exist (any longer). */
  async recipientsOf(environmentId: number, emailId: Id): Promise<readonly string[] | null> {
    const state = await this.states.find(environmentId, emailId);
    return state === null || state.erasedAt !== null ? null : state.recipients.map(({ address }) => address);
  }

  /** Returns null if the message was erased, is not composed yet, or no longer exists. Throws 503 during an outage. */
  async rawOf(environmentId: number, emailId: Id): Promise<Buffer | null> {
    const state = await this.states.find(environmentId, emailId);
    return state === null || state.erasedAt !== null ? null : this.raw.whole(blobKeyOf(environmentId, state));
  }

  /** Searches all environments, for sources that give an email's id but no environment. */
  environmentOf(emailId: Id): Promise<number | null> {
    return this.emails.environmentOf(emailId);
  }

  /** Searches all environments for the email that a provider accepted under this id. */
  ofProvider(providerMessageId: string): Promise<{ environmentId: number; emailId: Id } | null> {
    return this.emails.ofProvider(providerMessageId);
  }

  /**
   * Returns the `b=` value of the DKIM signature without white space, or null if the message no longer exists. A report
   * with this value proves that its sender has seen the message. Knowing the Message-ID proves nothing.
   */
  async signatureOf(environmentId: number, emailId: Id): Promise<string | null> {
    const chunks = await this.raw.read(environmentId, emailId);
    if (chunks === null) return null;
    // The signature is the first header of the sent message.
    for await (const chunk of chunks) {
      const [first] = headersOf(chunk.toString('latin1', 0, 16_384).replaceAll('\r\n', '\n')).headers;
      return first?.[0] === 'dkim-signature'
        ? (/\bb=([A-Za-z0-9+/= \t]+)/.exec(first[1])?.[1]?.replace(/\s+/g, '') ?? null)
        : null;
    }
    return null;
  }
}
