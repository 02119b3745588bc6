import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { mapAtOnce } from '#kernel/concurrency/map-at-once.js';
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
import { isRecord } from './draft-fields.js';
import type { EmailDraft, InvalidDraft } from './email-draft.js';
import { AT_ONCE_MAX, StrictBatch } from './strict-batch.js';
import { TemplatedDrafts } from './templated-drafts.js';

export const BATCH_MAX = 100;

export type BatchOutcome = { email: AcceptedEmail } | { error: ApiError };

/** Converts an accepted email to the response that is stored with the idempotency key, and the stored response back. */
export interface KeptEmail {
  keep: (email: AcceptedEmail) => StoredAnswer;
  read: (answer: StoredAnswer) => AcceptedEmail;
}

@Injectable()
export class SendEmails {
  constructor(
    private readonly accepting: AcceptEmail,
    private readonly strict: StrictBatch,
    private readonly drafts: TemplatedDrafts,
    private readonly clock: Clock,
  ) {}

  /** Accepts one email. Throws 422 with all validation errors, and the errors of `AcceptEmail`. */
  async one(
    tenant: Tenant,
    given: unknown,
    idempotency: IdempotentRequest | null,
    kept: KeptEmail,
  ): Promise<AcceptedEmail> {
    const draft = await this.drafts.read(tenant, given, this.clock.nowMs());
    if ('faults' in draft) throw invalid(draft.faults);
    return this.accepting.accept(
      tenant,
      draft,
      allowanceOf([draft]),
      idempotency && { request: idempotency, answer: kept.keep },
    );
  }

  /**
   * Accepts a batch. Returns one result per email, in the order of the request. An invalid email does not affect the
   * others, unless the batch is strict. Throws 422 if the body is not a batch.
   *
   * With an idempotency key, each email gets a key derived from it. If a crash interrupts the batch, a repeated request
   * then continues it. If storage becomes unavailable, the whole request fails with 503, so that the client repeats it.
   */
  async batch(
    tenant: Tenant,
    given: unknown,
    idempotency: IdempotentRequest | null,
    kept: KeptEmail,
    isStrict = false,
  ): Promise<BatchOutcome[]> {
    const nowMs = this.clock.nowMs();
    const drafts = await mapAtOnce(itemsOf(given), AT_ONCE_MAX, async (item) =>
      withoutSchedule(item, await this.drafts.read(tenant, item, nowMs)),
    );
    refuseTooMuch(drafts);
    const allowed = allowanceOf(drafts);
    if (isStrict) return (await this.strict.acceptAll(tenant, drafts, allowed)).map((email) => ({ email }));
    const outcomes = await mapAtOnce(drafts, AT_ONCE_MAX, (draft, i) =>
      this.item(tenant, draft, allowed, keyOfItem(idempotency, i), kept),
    );
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

type Draft = EmailDraft | InvalidDraft;

const NOT_SCHEDULED: Fault = {
  path: 'scheduled_at',
  message: 'is for POST /v1/emails: the emails of a batch are sent immediately',
};

/** Returns the draft of an email. Adds an error if it is scheduled, because batches do not support schedules. */
function withoutSchedule(item: unknown, draft: Draft): Draft {
  const times = isRecord(item) ? [item['scheduled_at'], item['scheduledAt']] : [];
  if (times.every((time) => time === undefined || time === null)) return draft;
  const others = 'faults' in draft ? draft.faults.filter(({ path }) => path !== NOT_SCHEDULED.path) : [];
  return { ...draft, faults: [...others, NOT_SCHEDULED] };
}

/** Returns the emails of a batch. The body is an array, as the `resend` package sends, or has the array in `emails`. */
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

/**
 * Throws if all emails together exceed the limits of a request. Attachments at URLs are counted when they are fetched.
 */
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

/**
 * Returns the idempotency key of one email in a batch. Omits the fencing token, which belongs to the key of the batch.
 */
function keyOfItem(idempotency: IdempotentRequest | null, i: number): IdempotentRequest | null {
  if (idempotency === null) return null;
  const { environmentId, route, key, fingerprint } = idempotency;
  return { environmentId, route: `${route} ${i}`, key, fingerprint };
}
