import { Injectable } from '@nestjs/common';
import { headersOf } from '#engine/mail/mime-parts.js';
import { type EmailStatus, recipientStatus } from '#engine/mail/recipient-state.js';
import type { Id } from '#kernel/ids.js';
import { EmailStates } from './email-states.js';
import { EmailsStore } from './emails.store.js';
import { RawEmails } from './raw-emails.js';

const SIGNATURE_BYTES_MAX = 16_384;

@Injectable()
export class SentEmails {
  constructor(
    private readonly states: EmailStates,
    private readonly emails: EmailsStore,
    private readonly raw: RawEmails,
  ) {}

  /** Returns the recipients' addresses in a stable order, or null if the email was erased or does not exist. */
  async recipientsOf(environmentId: number, emailId: Id): Promise<readonly string[] | null> {
    const state = await this.states.find(environmentId, emailId);
    return state === null || state.erasedAt !== null ? null : state.recipients.map(({ address }) => address);
  }

  /**
   * Returns the state of an email's only recipient. Used for emails with one recipient, such as forwarded messages.
   * Null if the email does not exist.
   */
  async soleRecipientOf(
    environmentId: number,
    emailId: Id,
  ): Promise<{ status: EmailStatus; detail: string | null } | null> {
    const email = await this.emails.find(environmentId, emailId);
    const recipient = email?.recipients[0];
    if (!email || recipient === undefined) return null;
    return { status: recipientStatus(recipient.state, email.handingOver), detail: recipient.detail };
  }

  /** Looks up Message-IDs in order, and returns the id of the first sent email found. Null if there is none. */
  async sentAs(environmentId: number, messageIds: readonly string[]): Promise<Id | null> {
    return this.emails.ofMessageIds(environmentId, messageIds);
  }

  /**
   * Returns the stored message, for reading its content. It may lack the DKIM signature (see `SignedMessages`). Null if
   * it was erased, deleted or damaged, or is not composed yet. Throws 503 while storage is unavailable.
   */
  async rawOf(environmentId: number, emailId: Id): Promise<Buffer | null> {
    const state = await this.states.find(environmentId, emailId);
    return state === null || state.erasedAt !== null ? null : this.raw.stored(environmentId, state);
  }

  /** Returns the environment of an email, for callers that have only the email's id. Searches all environments. */
  environmentOf(emailId: Id): Promise<number | null> {
    return this.emails.environmentOf(emailId);
  }

  /** Returns the email to which a provider assigned this id. Searches all environments. */
  ofProvider(providerMessageId: string): Promise<{ environmentId: number; emailId: Id } | null> {
    return this.emails.ofProvider(providerMessageId);
  }

  /**
   * Returns the `b=` value of the DKIM signature without white space, or null if the message no longer exists. A report
   * that contains this value proves that its sender has received the message. A Message-ID is no such proof.
   */
  async signatureOf(environmentId: number, emailId: Id): Promise<string | null> {
    const state = await this.states.find(environmentId, emailId);
    if (state === null) return null;
    if (state.signature !== null) return signatureIn(state.signature);
    const chunks = await this.raw.read(environmentId, state);
    if (chunks === null) return null;
    // Only the first chunk is read, because the signature is the first header of the sent message.
    for await (const chunk of chunks) return signatureIn(chunk.toString('latin1', 0, SIGNATURE_BYTES_MAX));
    return null;
  }
}

/** Returns the `b=` value of a message's first header field. Null if it is no DKIM signature. */
function signatureIn(head: string): string | null {
  const [first] = headersOf(head.replaceAll('\r\n', '\n')).headers;
  if (first?.[0] !== 'dkim-signature') return null;
  return /\bb=([A-Za-z0-9+/= \t]+)/.exec(first[1])?.[1]?.replace(/\s+/g, '') ?? null;
}
