import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Mailbox, suppressionKey } from '#engine/mail/addresses.js';
import { mailHeaderFaults } from '#engine/mail/header-rules.js';
import { lineFaultOf } from '#engine/mail/line-faults.js';
import { mailDate } from '#engine/mail/mail-date.js';
import { FILE_LIMITS, type MessageFile, messageFilesOf } from '#engine/mail/message-files.js';
import { headerOf, mimePartsOf, walk } from '#engine/mail/mime-parts.js';
import {
  contentOf,
  ownHeadersOf,
  readSubmittedMessage,
  type SubmittedMessage,
  writeSubmittedMessage,
} from '#engine/mail/submitted-message.js';
import { IdempotentWork } from '#http/idempotent-work.js';
import { keyUuid } from '#http/in-process-request.js';
import { Clock } from '#kernel/clock.js';
import { ApiError, type Fault, invalid } from '#kernel/errors.js';
import { AlreadyAnswered } from '#kernel/idempotency.js';
import { Ids } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { Retention } from '#modules/auth/environments/retention.js';
import { AcceptancePolicies } from '#modules/ledger/acceptance-policies.js';
import { type AcceptedEmail, type AcceptedOnce, AcceptEmail } from './accept-email.js';
import { ATTACHMENT_BYTES_MAX, ATTACHMENTS_MAX, TOO_LARGE } from './attachment-draft.js';
import { EmailComposition, messageIdOf, ruledSubmission } from './email-composition.js';
import { type CompleteDraft, SUBJECT_CHARACTERS_MAX, TAG, TAGS_MAX, TEXT_BYTES_MAX } from './email-draft.js';
import { KEPT } from './emails.dto.js';
import { refuseUnlessDeliverable } from './international-addresses.js';
import { refusePaused, SenderIdentities } from './sender-identity.js';
import { MailTransport } from './transport.contract.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';
import { type ReadUnsubscribe, readUnsubscribe } from './unsubscribe-request.js';

/** Stands for method and path in stored idempotency keys, so that SMTP keys never equal keys of API requests. */
const ROUTE = 'SMTP /submission';
/** Maximum number of headers that policies see. Headers that policies add count toward the same limit. */
const POLICY_HEADERS_MAX = 40;

/**
 * Accepts messages that mail clients composed and submitted over SMTP. Removes blind copies and control headers. Adds
 * missing header fields and the headers of an unsubscribe link. All other bytes stay unchanged. The message is signed
 * later, because a signature takes several times the CPU time of accepting a message (see `SignedMessages`).
 */
@Injectable()
export class AcceptSubmittedMessage {
  constructor(
    private readonly identities: SenderIdentities,
    private readonly acceptancePolicies: AcceptancePolicies,
    private readonly composition: EmailComposition,
    private readonly links: UnsubscribeLinks,
    private readonly transport: MailTransport,
    private readonly accepting: AcceptEmail,
    private readonly once: IdempotentWork,
    private readonly retention: Retention,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  /**
   * Accepts a message, and resolves once the email is committed. `recipients` are those of the envelope. For a repeated
   * idempotency key, returns the first email. Throws 413 for attachments that are too large, and 422 if the message has
   * other errors or a policy rejects it. Throws 409 if the key belongs to another message, and 503 while storage is
   * unavailable.
   */
  async accept(tenant: Tenant, recipients: readonly Mailbox[], raw: Buffer): Promise<AcceptedEmail> {
    const message = readSubmittedMessage(raw);
    if ('fault' in message) throw new ApiError('validation_failed', message.fault, { check: 'schema' });
    const { idempotencyKey } = message;
    const submitted = { message, raw, files: filesOf(raw) };
    if (idempotencyKey === null) return this.store(tenant, recipients, submitted, null);
    const envelope = recipients.map(({ address }) => suppressionKey(address)).sort();
    const request = {
      environmentId: tenant.environmentId,
      route: ROUTE,
      key: keyUuid(idempotencyKey),
      fingerprint: createHash('sha256')
        .update(`${envelope.join('\n')}\n\n`)
        .update(contentOf(message))
        .digest(),
    };
    try {
      const answer = await this.once.run(request, async (reservation) =>
        KEPT.keep(await this.store(tenant, recipients, submitted, { request: reservation, answer: KEPT.keep })),
      );
      return KEPT.read(answer);
    } catch (error) {
      if (error instanceof AlreadyAnswered) return KEPT.read(error.answer);
      throw error;
    }
  }

  private async store(
    tenant: Tenant,
    recipients: readonly Mailbox[],
    { message, raw, files }: { message: SubmittedMessage; raw: Buffer; files: readonly MessageFile[] },
    once: AcceptedOnce | null,
  ): Promise<AcceptedEmail> {
    const addressed = draftOf(message, recipients);
    const { to, cc, bcc } = addressed;
    const requested = readRequests(message, to.length + cc.length + bcc.length);
    const identity = await this.identities.resolve(tenant, message.from.address);
    refusePaused(identity);
    if (!identity.isCaptured) await refuseUnlessDeliverable(addressed, this.transport);
    if (message.sender !== null) await this.identities.resolve(tenant, message.sender);
    const ruled = this.acceptancePolicies.isRuled
      ? await this.ruledHeaders(tenant, addressed, requested, raw, files)
      : {};
    const { environmentId } = tenant;
    const unsubscribe = await this.links.resolve(environmentId, requested.unsubscribe);
    const draft = unsubscribe === null ? addressed : { ...addressed, unsubscribe };
    const id = this.ids.next();
    const headers =
      unsubscribe === null
        ? ruled
        : (await this.links.addTo({ environmentId, id }, { ...draft, headers: ruled })).headers;
    const messageId = message.messageId ?? messageIdOf(id, identity);
    const unsigned = writeSubmittedMessage(message, {
      ...headers,
      ...(message.messageId === null && { 'Message-ID': messageId }),
      ...(!message.hasDate && { Date: mailDate(this.clock.now()) }),
    });
    // The client's own lines were checked when the message was read.
    const fault = unsigned === raw ? null : lineFaultOf(unsigned.subarray(0, unsigned.length - message.body.length));
    if (fault !== null) throw invalid([{ path: '', message: `A header was added that cannot be sent. ${fault}` }]);
    const named = { environmentId, id, expiresOnDay: await this.retention.expiresOnDay(environmentId, id), messageId };
    const attachments = files.map(({ filename, contentType, sizeBytes }) => ({
      filename,
      content_type: contentType,
      size_bytes: sizeBytes,
    }));
    const email = this.composition.unsigned(named, draft, identity, { sizeBytes: unsigned.length, attachments });
    return this.accepting.commit({ email, raw: unsigned }, once);
  }

  /** Returns the headers that policies add. Policies see the text, the files' metadata and the headers they may set. */
  private async ruledHeaders(
    tenant: Tenant,
    draft: CompleteDraft,
    { headers: given, unsubscribe }: ReadUnsubscribe,
    raw: Buffer,
    files: readonly MessageFile[],
  ): Promise<Record<string, string>> {
    const own = Object.entries(given).filter(([name, value]) => mailHeaderFaults({ [name]: value }).length === 0);
    const headers = Object.fromEntries(own.slice(0, POLICY_HEADERS_MAX));
    const shown = [...walk(mimePartsOf(raw, FILE_LIMITS))].filter(
      (part) => !/^\s*attachment\b/i.test(headerOf(part, 'content-disposition')),
    );
    // A message may have several parts of one type. Mail clients show all these parts, so policies see all of them.
    const bodyOf = (type: string): string | null => {
      const texts = shown.filter((part) => part.type === type).map(({ text }) => text);
      return texts.length === 0 ? null : texts.join('\n');
    };
    const submission = ruledSubmission(tenant, {
      ...draft,
      headers,
      attachments: files.map(({ sizeBytes, ...file }) => ({ ...file, source: { bytes: { length: sizeBytes } } })),
      unsubscribe,
      text: bodyOf('text/plain'),
      html: bodyOf('text/html'),
    });
    return (await this.acceptancePolicies.rule(submission)) ?? {};
  }
}

/**
 * Splits a message's headers into the requested unsubscribe link and the remaining headers. Throws 422 for an invalid
 * request, or if the message exceeds the limits for an email.
 */
function readRequests(message: SubmittedMessage, recipients: number): ReadUnsubscribe {
  const { subject, tags } = message;
  const faults: Fault[] = [];
  if (subject.length > SUBJECT_CHARACTERS_MAX)
    faults.push({ path: 'Subject', message: `must have at most ${SUBJECT_CHARACTERS_MAX} characters` });
  if (tags.length > TAGS_MAX) faults.push({ path: 'X-Tag', message: `must have at most ${TAGS_MAX} entries` });
  if (tags.some(({ name, value }) => !TAG.test(name) || !TAG.test(value)))
    faults.push({ path: 'X-Tag', message: 'must be name=value, each of 1 to 256 letters, digits, "_" and "-"' });
  const read = readUnsubscribe(
    { unsubscribe: undefined, topicId: undefined, headers: ownHeadersOf(message), recipients },
    (path, text) => {
      faults.push({ path, message: text });
      return null;
    },
  );
  if (faults.length > 0) throw invalid(faults);
  return read;
}

/**
 * Returns the attachments. Throws 413 if the attachments or a body are too large, and 422 if there are too many
 * attachments or MIME parts.
 */
function filesOf(raw: Buffer): MessageFile[] {
  const found = messageFilesOf(raw);
  if (found === null) throw invalid([{ path: '', message: 'The message has too many MIME parts.' }]);
  const { files, textBytesMax } = found;
  if (files.length > ATTACHMENTS_MAX)
    throw invalid([{ path: '', message: `A message has at most ${ATTACHMENTS_MAX} attachments.` }]);
  if (files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > ATTACHMENT_BYTES_MAX)
    throw new ApiError('payload_too_large', TOO_LARGE);
  if (textBytesMax > TEXT_BYTES_MAX)
    throw new ApiError('payload_too_large', `Text and HTML must each have at most ${TEXT_BYTES_MAX} bytes.`);
  return files;
}

/** Returns the fields of the email that the API shows. Recipients that are in neither To nor Cc are blind copies. */
function draftOf(message: SubmittedMessage, recipients: readonly Mailbox[]): CompleteDraft {
  const { from, replyTo, subject, tags } = message;
  const open = new Map(recipients.map((mailbox) => [suppressionKey(mailbox.address), mailbox]));
  const named = (mailboxes: readonly Mailbox[]): Mailbox[] =>
    mailboxes.flatMap(({ name, address }) => {
      const key = suppressionKey(address);
      const recipient = open.get(key);
      open.delete(key);
      return recipient === undefined ? [] : [{ name, address: recipient.address }];
    });
  return {
    from,
    to: named(message.to),
    cc: named(message.cc),
    bcc: [...open.values()],
    replyTo,
    subject,
    html: null,
    text: null,
    headers: {},
    attachments: [],
    tags,
    template: null,
    scheduledAt: null,
  };
}
