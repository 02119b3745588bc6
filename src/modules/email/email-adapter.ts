import { Injectable, Logger } from '@nestjs/common';
import { isRefused, parseMailbox, suppressionKey } from '#engine/mail/addresses.js';
import { type EmailStatus, eventStatusOf, isOwed } from '#engine/mail/recipient-state.js';
import { isAtSimulator, simulatedRole } from '#engine/mail/simulator.js';
import { Clock } from '#kernel/clock.js';
import { Config } from '#kernel/config/config.js';
import { type Id, parseId, showId } from '#kernel/ids.js';
import {
  Adapter,
  type DeliveryAnswer,
  DestinationAdapter,
  NotAttempted,
  type Outgoing,
  type ProbeReport,
  type Target,
} from '#modules/destinations/contract.js';
import type { EmailFact } from './contract.js';
import { applyDeliveryEvents } from './delivery-events.js';
import type { StoredRecipient } from './email.entities.js';
import { EmailMetrics } from './email.metrics.js';
import { EMAIL_TYPE } from './email-destination.js';
import { EmailStates } from './email-states.js';
import { EmailsStore, type EmailState } from './emails.store.js';
import { blobKeyOf, RawEmails } from './raw-emails.js';
import { ReturnPaths } from './return-paths.js';
import { StoredDeliveryEvents } from './stored-delivery-events.js';
import { MailTransport, type RecipientReply, type SubmissionReport } from './transport.contract.js';
import { capturedReply, deliveryEventsOf, handoffResult, simulatedReply } from './transport-handoff.js';

/** Time limit and pauses for storing the result. The message was sent, and must not be sent again unnecessarily. */
const NOTED_MS_MAX = 25_000;
const NOTE_PAUSES_MS = [100, 400, 1_500, 4_000, 8_000] as const;

/**
 * Hands the stored bytes to the transport, for recipients without a final outcome. Each result is stored before the
 * delivery records its attempt. A crash before that may send the email again (at-least-once delivery).
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
    private readonly raw: RawEmails,
    private readonly transport: MailTransport,
    private readonly returnPaths: ReturnPaths,
    private readonly metrics: EmailMetrics,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {
    super();
  }

  /** Does not use the target's own timeout, which depends on the version of Posthorn that created the row. */
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
      suppressed.has(suppressionKey(address)) && !isAtSimulator(address, this.config.platformDomain);
    const open = owed.filter((recipient) => !isSuppressed(recipient));
    const passedBy = owed.filter(isSuppressed).map(({ address }): EmailFact => suppressedFact(address));
    if (open.length === 0) {
      await this.note(environmentId, email, passedBy);
      return this.settled(email, passedBy);
    }
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

  /** Simulates replies for simulator addresses and captured mail. Returns null if the bytes no longer exist. */
  private async submit(
    environmentId: number,
    email: EmailState,
    addresses: readonly string[],
  ): Promise<SubmissionReport | null> {
    // The transport `capture:` sends nothing out. It still receives captured mail, also from the test environment, and
    // delivers it to the installation's own aliases.
    const isKept = email.isCaptured && this.config.emailTransport.kind !== 'capture';
    const played = addresses.map(
      (address) => simulatedReply(address, this.config.platformDomain) ?? (isKept ? capturedReply(address) : null),
    );
    const replies = played.filter((reply): reply is RecipientReply => reply !== null);
    const real = addresses.filter((_, i) => played[i] === null);
    if (real.length === 0) return { replies, isUnreachable: false, isFinal: true, retryAfterMs: null };
    const raw = await this.ours(() => this.raw.whole(blobKeyOf(environmentId, email)));
    if (raw === null) return null;
    const report = await this.transport.submit({
      emailId: showId('evt', email.id),
      raw,
      mailFrom: (recipients) => this.returnPath(environmentId, email, recipients),
      recipients: real,
    });
    return { ...report, replies: [...replies, ...report.replies] };
  }

  /** Bounces go to Posthorn if the domain or the platform has a host for them, otherwise to the sender. */
  private returnPath(
    environmentId: number,
    { id, sender, returnPathHost, recipients }: EmailState,
    addresses: readonly string[],
  ): string {
    const places = recipients.flatMap(({ address }, place) => (addresses.includes(address) ? [place] : []));
    if (returnPathHost !== null) return `${this.returnPaths.addressFor(environmentId, id, places)}@${returnPathHost}`;
    const from = parseMailbox(sender);
    return isRefused(from) ? '' : from.address;
  }

  /** A simulated recipient immediately produces the events that a real recipient would report later. */
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
    return nothing(
      'refused',
      status === 'suppressed' ? 'Every recipient is suppressed.' : 'No recipient is left to send to.',
    );
  }

  /** If no recipient is deferred, the email's status decides: it is a success only if no recipient was ever refused. */
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

  /** Stores the provider's message id first: its notifications may arrive before its response is processed. */
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

  /** Reports a failure of Posthorn's own storage as `NotAttempted`, because the transport is not at fault. */
  private async ours<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw new NotAttempted(`The email could not be read: ${(error as Error).message}`, { cause: error });
    }
  }
}

const suppressedFact = (address: string): EmailFact => ({
  address,
  kind: 'suppressed',
  subtype: 'suppressed',
  detail: 'The address is on the suppression list.',
  isPermanent: false,
});

function nothing(outcome: 'success' | 'refused', excerpt: string): Omit<DeliveryAnswer, 'durationMs'> {
  if (outcome === 'refused') return { answer: { kind: 'error', error: 'refused' }, excerpt };
  return { answer: { kind: 'response', status: 250, retryAfter: null, outcome }, excerpt };
}
