import { Injectable, Logger } from '@nestjs/common';
import { isRefused, parseMailbox, suppressionKey } from '#engine/mail/addresses.js';
import { type EmailStatus, eventStatusOf, isOwed } from '#engine/mail/recipient-state.js';
import { simulatedRole } from '#engine/mail/simulator.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import {
  Adapter,
  type DeliveryAnswer,
  DestinationAdapter,
  NotAttempted,
  type Outgoing,
  Postponed,
  type ProbeReport,
  type Target,
} from '#modules/destinations/contract.js';
import { PausedDomains } from '#modules/domains/paused-domains.js';
import { Topics } from '#modules/topics/topics.js';
import type { EmailFact } from './contract.js';
import { applyDeliveryEvents } from './delivery-events.js';
import type { StoredRecipient } from './email.entities.js';
import { EmailMetrics } from './email.metrics.js';
import { isListed, suppressionNote } from './email-composition.js';
import { EMAIL_TYPE } from './email-destination.js';
import { EmailStates } from './email-states.js';
import { EmailsStore, type EmailState } from './emails.store.js';
import { hostOfSender } from './mail-volume.js';
import { ReturnPaths } from './return-paths.js';
import { RewrittenSenders } from './rewritten-senders.js';
import { SignedMessages } from './signed-messages.js';
import { StoredDeliveryEvents } from './stored-delivery-events.js';
import { MailTransport, type RecipientReply, type SubmissionReport } from './transport.contract.js';
import { capturedReply, deliveryEventsOf, handoffResult, simulatedReply } from './transport-handoff.js';

/** Maximum wait in milliseconds before an email from a paused domain is attempted again. */
const PAUSED_MS = 300_000;
/** Time limit for storing a result, and the pauses between tries. If all tries fail, the message is sent again. */
const NOTED_MS_MAX = 25_000;
const NOTE_PAUSES_MS = [100, 400, 1_500, 4_000, 8_000] as const;

/**
 * Passes the stored message to the email transport, for recipients without a final state. The replies are stored before
 * the delivery's attempt is recorded. After a crash between sending and storing, the email may be sent again
 * (at-least-once delivery).
 */
@Adapter()
@Injectable()
export class EmailAdapter extends DestinationAdapter {
  override readonly type = EMAIL_TYPE;
  override readonly pulled = false;
  override readonly isOffered = false;
  private readonly logger = new Logger('Email');

  constructor(
    private readonly states: EmailStates,
    private readonly emails: EmailsStore,
    private readonly facts: StoredDeliveryEvents,
    private readonly topics: Topics,
    private readonly messages: SignedMessages,
    private readonly transport: MailTransport,
    private readonly returnPaths: ReturnPaths,
    private readonly rewrittenSenders: RewrittenSenders,
    private readonly pausedDomains: PausedDomains,
    private readonly metrics: EmailMetrics,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** Time limit of an attempt. Ignores the target's own timeout, which an older version of Posthorn may have stored. */
  override get attemptMsMax(): number {
    return this.transport.submitMsMax + NOTED_MS_MAX;
  }

  override check(): { path: string; message: string }[] {
    return [{ path: 'type', message: 'Emails are sent with POST /v1/emails.' }];
  }

  override async probe(): Promise<ProbeReport> {
    return { ok: false, check: 'schema', detail: 'Emails are sent with POST /v1/emails.' };
  }

  override async deliver(outgoing: Outgoing, { environmentId }: Target): Promise<DeliveryAnswer> {
    const startedMs = this.clock.monotonicMs();
    const emailId = parseId('msg', outgoing.webhookId) as Id;
    const email = await this.ours(() => this.states.find(environmentId, emailId));
    const answer =
      email === null || email.erasedAt !== null
        ? nothing('refused', 'The email was erased.')
        : await this.handOver(environmentId, email, outgoing.replayed);
    return { ...answer, durationMs: Math.round(this.clock.monotonicMs() - startedMs) };
  }

  private async handOver(
    environmentId: number,
    email: EmailState,
    replayed: boolean,
  ): Promise<Omit<DeliveryAnswer, 'durationMs'>> {
    const owed = email.recipients.filter(({ state }) => isOwed(state, replayed));
    const suppressed = new Set(email.suppressed);
    const isSuppressed = ({ address }: StoredRecipient): boolean =>
      isListed(address, suppressed.has(suppressionKey(address)), this.config.platformDomain);
    const passedBy = owed.filter(isSuppressed).map(({ address }) => suppressedFact(address, null));
    const open: StoredRecipient[] = [];
    for (const recipient of owed.filter((each) => !isSuppressed(each))) {
      const refusal = await this.topicRefusal(environmentId, recipient);
      if (refusal === null) open.push(recipient);
      else passedBy.push(suppressedFact(recipient.address, refusal));
    }
    if (open.length === 0) {
      await this.note(environmentId, email, passedBy);
      return this.settled(email, passedBy);
    }
    // Captured and forwarded mail is not counted for the sender's domain, and does not wait while that domain is
    // paused.
    const isCounted = !email.isCaptured && email.originalSender === null;
    if (isCounted && this.pausedDomains.has(environmentId, hostOfSender(email.sender)))
      throw new Postponed(
        'The domain of the sender is paused.',
        Math.round(PAUSED_MS * (0.8 + 0.2 * this.clock.random())),
      );
    const report = await this.submit(
      environmentId,
      email,
      open.map(({ address }) => address),
    );
    if (report === null) return nothing('refused', 'The message of the email no longer exists.');
    for (const { outcome } of report.replies) this.metrics.replied(outcome, 1);
    const facts = [...passedBy, ...report.replies.flatMap((reply) => this.learned(reply, report.isFinal))];
    await this.note(environmentId, email, facts, report.providerMessageId);
    return this.resultOf(email, facts, report);
  }

  /**
   * Returns why the recipient gets no email because of its topic. Null if the recipient is subscribed, or if the email
   * has no topic.
   */
  private async topicRefusal(environmentId: number, { topicId, address }: StoredRecipient): Promise<string | null> {
    return topicId === undefined ? null : this.ours(() => this.topics.refusalOf(environmentId, topicId, address));
  }

  /**
   * Submits the email to the transport. Simulator addresses and captured mail are not submitted, but get simulated
   * replies. Returns null if the stored message no longer exists.
   */
  private async submit(
    environmentId: number,
    email: EmailState,
    addresses: readonly string[],
  ): Promise<SubmissionReport | null> {
    // Captured mail is not submitted, except to the transport `capture:`. This transport sends no mail to other
    // servers, but delivers mail to the installation's own aliases.
    const isKept = email.isCaptured && this.config.emailTransport.kind !== 'capture';
    const played = addresses.map(
      (address) => simulatedReply(address, this.config.platformDomain) ?? (isKept ? capturedReply(address) : null),
    );
    const replies = played.filter((reply): reply is RecipientReply => reply !== null);
    const real = addresses.filter((_, i) => played[i] === null);
    if (real.length === 0) return { replies, isUnreachable: false, isFinal: true, retryAfterMs: null };
    const raw = await this.ours(() => this.messages.toSend(environmentId, email));
    if (raw === null) return null;
    const report = await this.transport.submit({
      emailId: showId('evt', email.id),
      raw,
      mailFrom: (recipients) => this.returnPath(environmentId, email, recipients),
      recipients: real,
    });
    return { ...report, replies: [...replies, ...report.replies] };
  }

  /**
   * Returns the envelope sender. It is Posthorn's address for bounces, or the email's sender if neither the domain nor
   * the platform has a host for bounces. A forwarded message has a rewritten sender. A null sender stays null, so that
   * a bounce never causes another bounce.
   */
  private returnPath(
    environmentId: number,
    { id, sender, originalSender, returnPathHost, recipients }: EmailState,
    addresses: readonly string[],
  ): string {
    if (originalSender === '') return '';
    const rewritten = originalSender === null ? null : this.rewrittenSenders.localPart(originalSender);
    if (rewritten !== null && returnPathHost !== null) return `${rewritten}@${returnPathHost}`;
    const places = recipients.flatMap(({ address }, place) => (addresses.includes(address) ? [place] : []));
    if (returnPathHost !== null) return `${this.returnPaths.addressFor(environmentId, id, places)}@${returnPathHost}`;
    const from = parseMailbox(sender, 'international');
    return isRefused(from) ? '' : from.address;
  }

  /**
   * Returns the events for a reply. For a simulated recipient, adds the events that would follow for a real recipient.
   */
  private learned(reply: RecipientReply, isFinal: boolean): EmailFact[] {
    const role = simulatedRole(reply.address, this.config.platformDomain);
    const facts = deliveryEventsOf(reply, isFinal || role !== null);
    const complaint: EmailFact = {
      address: reply.address,
      kind: 'complained',
      subtype: 'abuse',
      detail: 'The simulator complained.',
      isPermanent: false,
    };
    return role === 'complained' ? [...facts, complaint] : facts;
  }

  /** Returns the result for an email that has no recipients left, derived from the email's status. */
  private settled(email: EmailState, passedBy: readonly EmailFact[]): Omit<DeliveryAnswer, 'durationMs'> {
    const status = this.statusAfter(email, passedBy);
    if (eventStatusOf(status) !== 'failed') return nothing('success', 'All recipients already have a final status.');
    if (status === 'canceled')
      return { ...nothing('refused', 'The email was canceled before its scheduled time.'), isCanceled: true };
    return nothing(
      'refused',
      status === 'suppressed' ? 'Every recipient is suppressed.' : 'No recipient is left to send to.',
    );
  }

  /**
   * Returns an attempt's result. The result is a success only if no recipient is deferred, and none was rejected in
   * this or an earlier attempt.
   */
  private resultOf(
    email: EmailState,
    facts: readonly EmailFact[],
    report: SubmissionReport,
  ): Omit<DeliveryAnswer, 'durationMs'> {
    const result = handoffResult(report);
    const { answer } = result;
    if (
      answer.kind !== 'response' ||
      answer.outcome !== 'success' ||
      eventStatusOf(this.statusAfter(email, facts)) !== 'failed'
    )
      return result;
    return { ...result, answer: { ...answer, outcome: 'refused' } };
  }

  private statusAfter(email: EmailState, facts: readonly EmailFact[]): EmailStatus {
    return applyDeliveryEvents(email, facts, this.clock.now().toISOString()).after.status;
  }

  /** Stores a submission's result. Stores the provider's message id first: notifications may refer to it very soon. */
  private async note(
    environmentId: number,
    email: EmailState,
    facts: readonly EmailFact[],
    providerMessageId?: string,
  ): Promise<void> {
    for (const pauseMs of [...NOTE_PAUSES_MS, null]) {
      try {
        if (providerMessageId !== undefined) await this.emails.takenAs(environmentId, email, providerMessageId);
        return await this.facts.recordOn(environmentId, email, facts);
      } catch (error) {
        this.logger.warn(`The result of ${showId('evt', email.id)} could not be stored: ${(error as Error).message}`);
        if (pauseMs === null) throw new NotAttempted('The result of the email could not be stored.', { cause: error });
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  /**
   * Returns the result of `ask`, which reads from Posthorn's storage. If the read fails, throws `NotAttempted`, because
   * this is not a failure of the transport.
   */
  private async ours<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw new NotAttempted(`The email could not be read: ${(error as Error).message}`, { cause: error });
    }
  }
}

const suppressedFact = (address: string, refusal: string | null): EmailFact => ({
  address,
  kind: 'suppressed',
  ...suppressionNote(refusal),
  isPermanent: false,
});

function nothing(outcome: 'success' | 'refused', excerpt: string): Omit<DeliveryAnswer, 'durationMs'> {
  if (outcome === 'refused') return { answer: { kind: 'error', error: 'refused' }, excerpt };
  return { answer: { kind: 'response', status: 250, retryAfter: null, outcome }, excerpt };
}
