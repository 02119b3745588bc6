import type { Tenant } from '#kernel/tenant.js';

export interface Submission {
  /** A request to `POST /v1/send`, a message to an application, a request to an inbound endpoint, or an email. */
  kind: 'send' | 'fan_out' | 'receipt' | 'email';
  tenant: Tenant;
  /**
   * The addressee as the caller named it: `dst_…` or a URL for a send; `app_…` or the caller's own id for a fan-out;
   * `ep_…` for a receipt; the recipients' addresses, separated by commas, for an email.
   */
  to: string;
  eventType: string;
  /** Headers of the deliveries, names in lower case: from the provider (receipt), or the caller's own (email). */
  headers: Readonly<Record<string, string>>;
  /**
   * The exact text, or the bytes of a request as received. For an email, its fields as JSON, without the bytes of
   * attachments.
   */
  payload: string | Buffer;
}

/**
 * Decision of a policy. `null` accepts the submission unchanged. `headers` are added to its deliveries (for an email,
 * to the message) and replace the sender's headers of the same name. `refuse` is the reason for a refusal.
 */
export type Ruling = { refuse: string } | { headers: Readonly<Record<string, string>> } | null;

/**
 * Decides on every submission before it is accepted: a send; a fan-out (once, regardless of its endpoints); an email (a
 * scheduled one when it is accepted, not when it is sent); and a request that an endpoint receives, after its signature
 * is verified. Any provider of an extension that extends this class is registered. Policies run one after the other;
 * the first refusal ends the evaluation.
 *
 * Policies do not run again for an accepted submission: neither for its attempts, nor for the replay of an event. The
 * replay of a raw request is treated as a new receipt, and a test event as a new send. Posthorn's own system events are
 * not evaluated.
 */
export abstract class AcceptancePolicy {
  /**
   * Must finish within two seconds, because the sender waits. A refusal is returned as 422 with `details.check:
   * "policy"` and the reason, and nothing is stored. If a policy throws, returns an invalid value or times out, nothing
   * is accepted and the sender receives 503.
   */
  abstract rule(submission: Submission): Ruling | Promise<Ruling>;
}
