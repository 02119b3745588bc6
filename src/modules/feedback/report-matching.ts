import { Injectable } from '@nestjs/common';
import { suppressionKey } from '#engine/mail/addresses.js';
import { type MailReport, readReport } from '#engine/mail/reports.js';
import { readSesNotification } from '#engine/mail/ses-notification.js';
import { type Id, parseId } from '#kernel/ids.js';
import { type NamedEmail } from '#modules/email/contract.js';
import { ReturnPaths } from '#modules/email/return-paths.js';
import { SentEmails } from '#modules/email/sent-emails.js';
import { StoredDeliveryEvents } from '#modules/email/stored-delivery-events.js';
import { reportedFacts } from './reported-facts.js';
import type { ClaimedReport, Settled } from './reports.store.js';

interface Email {
  environmentId: number;
  emailId: Id;
}

interface Found extends Email {
  /** Proof that the author of the report has the email. */
  proof: 'envelope' | 'message' | 'none';
  /** Indexes of the recipients that the return path contains. Null for all recipients. */
  places: readonly number[] | null;
}

/** Posthorn's own Message-ID in the form `evt_…@domain`, or only its part before the `@`. */
const MESSAGE_ID = /^(evt_[0-9A-Za-z]{26})(?:@|$)/;

/**
 * Finds the email that a report is about and records the result.
 *
 * Anyone can send a report, and a report can have a recipient suppressed. A report therefore counts only if it proves
 * that its author has the message. The proof is the signed return path (in the report's envelope or body), or
 * Posthorn's signature of that exact message. A Message-ID is no proof, because replies and archives publish it.
 *
 * A report applies only to the recipients of the envelope whose return path it contains. Processing a report twice is
 * safe.
 */
@Injectable()
export class ReportMatching {
  constructor(
    private readonly emails: SentEmails,
    private readonly facts: StoredDeliveryEvents,
    private readonly returnAddresses: ReturnPaths,
  ) {}

  /**
   * Applies a report to its email and returns the result. The caller must store the result in the report's row. Throws
   * if storage is unavailable.
   */
  settle(report: ClaimedReport, raw: Buffer): Promise<Settled> {
    return report.source === 'ses' ? this.settleNotification(raw) : this.settleMail(report, raw);
  }

  private async settleMail(claimed: ClaimedReport, raw: Buffer): Promise<Settled> {
    const report = readReport(raw, claimed.envelopeFrom === '');
    const found = await this.find(claimed, report);
    const of = { environmentId: found?.environmentId ?? null, emailId: found?.emailId ?? null, kind: report.kind };
    const untrusted = { ...of, state: 'untrusted', reason: 'not_proven' } as const;
    if (found?.proof === 'none') return untrusted;
    if (report.kind === 'auto-reply') return { ...of, state: 'ignored', reason: 'auto_reply' };
    if (report.kind === 'other') return { ...of, state: found === null ? 'unmatched' : 'ignored', reason: 'no_report' };
    if (found === null) return { ...of, state: 'unmatched', reason: 'email_unknown' };
    const recipients = await this.emails.recipientsOf(found.environmentId, found.emailId);
    if (recipients === null) return { ...of, state: 'unmatched', reason: 'email_gone' };
    const { facts, isOfStrangers } = reportedFacts(report, provenOf(found, recipients));
    if (isOfStrangers)
      return reportedFacts(report, recipients).isOfStrangers
        ? { ...of, state: 'unmatched', reason: 'recipient_unknown' }
        : untrusted;
    if (facts.length === 0) return { ...of, state: 'ignored', reason: 'nothing_new' };
    await this.facts.record(found.environmentId, found.emailId, facts);
    return { ...of, state: 'recorded', reason: null };
  }

  /**
   * Applies a provider's notification and returns the result. The signature of the notification makes it as reliable as
   * an SMTP reply.
   */
  private async settleNotification(raw: Buffer): Promise<Settled> {
    const notification = readSesNotification(raw.toString());
    const nobody = { environmentId: null, emailId: null };
    if (notification === null) return { ...nobody, kind: 'other', state: 'unmatched', reason: 'no_report' };
    const { about, facts } = notification;
    const kind = notification.type.toLowerCase().slice(0, 40);
    const found =
      this.named(about.source) ??
      (await this.whose([...about.emailIds, ...about.messageIds])) ??
      (await this.emails.ofProvider(about.sesId));
    if (found === null) return { ...nobody, kind, state: 'unmatched', reason: 'email_unknown' };
    if (facts.length === 0) return { ...found, kind, state: 'ignored', reason: 'nothing_new' };
    const recipients = await this.emails.recipientsOf(found.environmentId, found.emailId);
    if (recipients === null) return { ...found, kind, state: 'unmatched', reason: 'email_gone' };
    const keys = new Set(recipients.map(suppressionKey));
    const known = facts.filter(({ address }) => keys.has(suppressionKey(address)));
    if (known.length === 0) return { ...found, kind, state: 'unmatched', reason: 'recipient_unknown' };
    await this.facts.record(found.environmentId, found.emailId, known);
    return { ...found, kind, state: 'recorded', reason: null };
  }

  private async find(
    { environmentId, emailId, recipient }: ClaimedReport,
    { about }: MailReport,
  ): Promise<Found | null> {
    // The mail listener verified the return path before it accepted the report.
    if (environmentId !== null && emailId !== null)
      return { environmentId, emailId, proof: 'envelope', places: this.named(recipient)?.places ?? null };
    const signed = about.returnPaths
      .map((localPart) => this.returnAddresses.read(localPart))
      .find((email) => email !== null);
    if (signed !== undefined) return { ...signed, proof: 'envelope' };
    const named = await this.whose(about.messageIds);
    if (named === null) return null;
    const signature =
      about.signatures.length > 0 ? await this.emails.signatureOf(named.environmentId, named.emailId) : null;
    const isShown = signature !== null && about.signatures.some((shown) => shown.startsWith(signature));
    return { ...named, proof: isShown ? 'message' : 'none', places: null };
  }

  private named(address: string): NamedEmail | null {
    return this.returnAddresses.read(address.slice(0, Math.max(0, address.lastIndexOf('@'))));
  }

  private async whose(names: readonly string[]): Promise<Email | null> {
    for (const name of names.slice(0, 5)) {
      const [, shown = ''] = MESSAGE_ID.exec(name) ?? [];
      const emailId = parseId('evt', shown);
      const environmentId = emailId === null ? null : await this.emails.environmentOf(emailId);
      if (emailId !== null && environmentId !== null) return { environmentId, emailId };
    }
    return null;
  }
}

/**
 * Returns the recipients that the report may concern. All recipients of an email get the same signature. A report that
 * is proven only by the signature therefore counts only if the email has one recipient.
 */
function provenOf({ proof, places }: Found, recipients: readonly string[]): readonly string[] {
  if (proof === 'message') return recipients.length === 1 ? recipients : [];
  return places === null ? recipients : recipients.filter((_, place) => places.includes(place));
}
