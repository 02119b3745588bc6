import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { ApiError, type Fault, invalid } from '#kernel/errors.js';
import { AlreadyAnswered, type IdempotentRequest, type StoredAnswer } from '#kernel/idempotency.js';
import type { Tenant } from '#kernel/tenant.js';
import { type AcceptedEmail, type AcceptedOnce, AcceptEmail } from './accept-email.js';
import {
  ATTACHMENT_BYTES_MAX,
  type AttachmentDraft,
  ATTACHMENTS_MAX,
  decodedBytes,
  TOO_LARGE,
} from './attachment-draft.js';
import type { FetchAllowance } from './attachment-fetch.js';
import { type EmailDraft, readEmail } from './email-draft.js';

export const BATCH_MAX = 100;
const AT_ONCE = 8;

export type BatchOutcome = { email: AcceptedEmail } | { error: ApiError };

/** Converts an accepted email to the response that is stored for the idempotency key, and back. */
export interface KeptEmail {
  keep: (email: AcceptedEmail) => StoredAnswer;
  read: (answer: StoredAnswer) => AcceptedEmail;
}

@Injectable()
export class SendEmails {
  constructor(
    private readonly accepting: AcceptEmail,
    private readonly clock: Clock,
  ) {}

  /** Throws 422 with all validation errors, and the errors of `AcceptEmail`. */
  one(tenant: Tenant, given: unknown, idempotency: IdempotentRequest | null, kept: KeptEmail): Promise<AcceptedEmail> {
    const draft = readEmail(given, this.clock.nowMs());
    if ('faults' in draft) throw invalid(draft.faults);
    return this.accepting.accept(
      tenant,
      draft,
      allowanceOf([draft]),
      idempotency && { request: idempotency, answer: kept.keep },
    );
  }

  /**
   * Returns one outcome per email, in order; an invalid email does not affect the others. Throws 422 if the body is not
   * a batch. With an idempotency key, each email is also stored under its own derived key, so that a repeated request
   * continues a batch whose process died. If storage becomes unavailable, the whole request fails with 503 and can be
   * repeated.
   */
  async batch(
    tenant: Tenant,
    given: unknown,
    idempotency: IdempotentRequest | null,
    kept: KeptEmail,
  ): Promise<BatchOutcome[]> {
    const nowMs = this.clock.nowMs();
    const drafts = itemsOf(given).map((item) => withoutSchedule(readEmail(item, nowMs)));
    refuseTooMuch(drafts);
    const allowed = allowanceOf(drafts);
    const outcomes: BatchOutcome[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let i = next++; i < drafts.length; i = next++)
        outcomes[i] = await this.item(tenant, drafts[i] as Draft, allowed, keyOfItem(idempotency, i), kept);
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, drafts.length) }, work));
    const away = outcomes.find((outcome) => 'error' in outcome && outcome.error.type === 'unavailable');
    if (away && 'error' in away && idempotency !== null) throw away.error;
    return outcomes;
  }

  private async item(
    tenant: Tenant,
    draft: Draft,
    allowed: FetchAllowance,
    request: IdempotentRequest | null,
    kept: KeptEmail,
  ): Promise<BatchOutcome> {
    if ('faults' in draft) return { error: invalid(draft.faults) };
    const once: AcceptedOnce | null = request && { request, answer: kept.keep };
    try {
      return { email: await this.accepting.accept(tenant, draft, allowed, once) };
    } catch (error) {
      if (error instanceof AlreadyAnswered) return { email: kept.read(error.answer) };
      if (error instanceof ApiError) return { error };
      throw error;
    }
  }
}

type Draft = EmailDraft | { faults: Fault[] };

/** Rejects a schedule in a batch (contract, section 10). Ignoring it would send the email too early. */
function withoutSchedule(draft: Draft): Draft {
  if ('faults' in draft || draft.scheduledAt === null) return draft;
  return {
    faults: [{ path: 'scheduled_at', message: 'is for POST /v1/emails: the emails of a batch are sent immediately' }],
  };
}

/** Accepts a plain array, which the `resend` package sends, or an object with the array in `emails`. */
function itemsOf(given: unknown): unknown[] {
  const items: unknown = Array.isArray(given) ? given : ((given ?? {}) as { emails?: unknown }).emails;
  const unknown =
    Array.isArray(given) || typeof given !== 'object' || given === null
      ? undefined
      : Object.keys(given).find((name) => name !== 'emails');
  if (unknown !== undefined) throw invalid([{ path: unknown, message: 'is not known here' }]);
  if (!Array.isArray(items)) throw invalid([{ path: 'emails', message: 'must be a list of emails' }]);
  if (items.length === 0 || items.length > BATCH_MAX)
    throw invalid([{ path: 'emails', message: `must have 1 to ${BATCH_MAX} emails` }]);
  return items as unknown[];
}

/** Rejects requests over the limits, which apply to all emails together. Fetched attachments are counted later. */
function refuseTooMuch(drafts: readonly Draft[]): void {
  const attachments = attachmentsOf(drafts);
  if (attachments.length > ATTACHMENTS_MAX)
    throw invalid([
      { path: 'emails', message: `A request has at most ${ATTACHMENTS_MAX} attachments, over all of its emails.` },
    ]);
  if (decodedBytes(attachments) > ATTACHMENT_BYTES_MAX) throw invalid([{ path: 'emails', message: TOO_LARGE }]);
}

const attachmentsOf = (drafts: readonly Draft[]): AttachmentDraft[] =>
  drafts.flatMap((draft) => ('faults' in draft ? [] : draft.attachments));

const allowanceOf = (drafts: readonly Draft[]): FetchAllowance => ({
  bytes: ATTACHMENT_BYTES_MAX - decodedBytes(attachmentsOf(drafts)),
});

/** Derives an item's key. The fencing token is left out, because it belongs to the reservation of the whole request. */
function keyOfItem(idempotency: IdempotentRequest | null, i: number): IdempotentRequest | null {
  if (idempotency === null) return null;
  const { environmentId, route, key, fingerprint } = idempotency;
  return { environmentId, route: `${route} ${i}`, key, fingerprint };
}
