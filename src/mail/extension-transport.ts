import { Logger } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { recordable } from '#engine/excerpt.js';
import { withDeadline } from '#kernel/concurrency/deadline.js';
import { namedProvider } from '#kernel/extension-points.js';
import {
  MailTransport,
  NamedMailTransport,
  type RecipientReply,
  type Submission,
  type SubmissionReport,
  Transport,
} from '#modules/email/transport.contract.js';

const SUBMIT_MS_LIMIT = 600_000;
const OFFER_MS_MAX = 5_000;
const RETRY_AFTER_MS_MAX = 86_400_000;
const ID_LENGTH_MAX = 255;
const OUTCOMES: readonly unknown[] = ['accepted', 'bounced', 'failed', 'deferred'];
const POINT = {
  setting: 'EMAIL_TRANSPORT',
  builtIn: ['capture:', 'smtp://HOST', 'smtps://HOST', 'ses:REGION', 'direct:'],
  mark: '@Transport()',
  decorator: Transport,
  base: NamedMailTransport,
};

/** The transport of an extension. If it fails, the email is sent again later. */
export class ExtensionTransport extends MailTransport {
  private readonly logger = new Logger('Extensions');
  private transport: NamedMailTransport | null = null;
  private limitMs = super.submitMsMax;
  private isRewriting = false;

  constructor(
    private readonly name: string,
    private readonly discovery: DiscoveryService,
  ) {
    super();
  }

  /** Finds the transport after the extensions have created their providers. Throws if it is unknown or invalid. */
  find(): void {
    const found = namedProvider(this.discovery, POINT, this.name);
    const limitMs: unknown = found.submitMsMax;
    if (!Number.isInteger(limitMs) || Number(limitMs) < 1 || Number(limitMs) > SUBMIT_MS_LIMIT)
      throw new Error(`submitMsMax of ${found.constructor.name} must be an integer from 1 to ${SUBMIT_MS_LIMIT}.`);
    this.limitMs = Number(limitMs);
    this.isRewriting = found.rewritesIdentity;
    this.transport = found;
  }

  override get submitMsMax(): number {
    return this.limitMs;
  }

  override get rewritesIdentity(): boolean {
    return this.isRewriting;
  }

  /** Returns whether SMTPUTF8 is offered. Null if the extension fails, takes too long, or returns no boolean. */
  override async offersSmtpUtf8(): Promise<boolean | null> {
    try {
      const offers: unknown = await withDeadline(OFFER_MS_MAX, () => this.transport?.offersSmtpUtf8());
      return typeof offers === 'boolean' ? offers : null;
    } catch {
      return null;
    }
  }

  async submit(submission: Submission): Promise<SubmissionReport> {
    // The extension gets a copy of the recipients and may change it. Every recipient of the original list needs a
    // reply.
    const given = { ...submission, recipients: [...submission.recipients] };
    try {
      const report: unknown = await withDeadline(this.limitMs, () => this.transport?.submit(given));
      return reportOf(report, submission.recipients);
    } catch (error) {
      this.logger.error(
        `The email transport ${this.name} failed: ${error instanceof Error ? error.stack : String(error)}`,
      );
      const replies = submission.recipients.map((address) => deferred(address, 'The email transport failed.'));
      return { replies, isUnreachable: true, isFinal: false, retryAfterMs: null };
    }
  }
}

/**
 * Returns the valid parts of a report. Recipients without a valid reply are deferred. Throws if the value is not a
 * report.
 */
function reportOf(report: unknown, recipients: readonly string[]): SubmissionReport {
  const { replies, isUnreachable, isFinal, retryAfterMs, providerMessageId } = (report ?? {}) as Record<
    string,
    unknown
  >;
  if (!Array.isArray(replies) || typeof isUnreachable !== 'boolean' || typeof isFinal !== 'boolean')
    throw new Error('It returned no report: { replies, isUnreachable, isFinal, retryAfterMs }.');
  const given = replies.filter(isReply);
  const isId = typeof providerMessageId === 'string' && providerMessageId.length <= ID_LENGTH_MAX;
  return {
    replies: recipients.map((address) => {
      const reply = given.find((each) => each.address === address);
      return reply === undefined ? deferred(address, 'The email transport returned no valid reply.') : cut(reply);
    }),
    isUnreachable,
    isFinal,
    retryAfterMs:
      typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) : null,
    ...(isId && { providerMessageId: recordable(providerMessageId) }),
  };
}

function isReply(given: unknown): given is RecipientReply {
  if (typeof given !== 'object' || given === null) return false;
  const { address, outcome, code, enhanced, text } = given as Record<string, unknown>;
  return (
    typeof address === 'string' &&
    OUTCOMES.includes(outcome) &&
    (code === 0 || (Number.isInteger(code) && Number(code) >= 200 && Number(code) <= 599)) &&
    (enhanced === null || (typeof enhanced === 'string' && /^[245]\.\d{1,3}\.\d{1,3}$/.test(enhanced))) &&
    typeof text === 'string'
  );
}

function cut({ address, outcome, code, enhanced, text }: RecipientReply): RecipientReply {
  return { address, outcome, code, enhanced, text: recordable(text) };
}

const deferred = (address: string, text: string): RecipientReply => ({
  address,
  outcome: 'deferred',
  code: 0,
  enhanced: null,
  text,
});
