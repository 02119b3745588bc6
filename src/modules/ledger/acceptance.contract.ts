import type { Tenant } from '#kernel/tenant.js';

export interface Submission {
  /** A request to `POST /v1/send`, a message to an application, a request to an inbound endpoint, or an email. */
  kind: 'send' | 'fan_out' | 'receipt' | 'email';
  tenant: Tenant;
  /**
   * The addressee as the caller named it. For a send: `dst_…` or a URL. For a fan-out: `app_…` or the caller's own id.
   * For a receipt: `ep_…`. For an email: the recipients' addresses, separated by commas.
   */
  to: string;
  eventType: string;
  /**
   * Headers of the deliveries, with lower-case names. For a receipt, the provider sent them. For an email, the caller
   * set them.
   */
  headers: Readonly<Record<string, string>>;
  /**
   * The exact text, or the bytes of a received request. For an email, its fields as JSON, without the bytes of
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
 * Decides whether a submission is accepted: a send, a fan-out, an email or a received request. An extension registers a
 * policy by providing a class that extends this one. Policies run one after the other until one refuses.
 *
 * A fan-out is evaluated once, regardless of its endpoints. A scheduled email is evaluated when it is accepted, not
 * when it is sent. A received request is evaluated after its signature is verified.
 *
 * Policies do not run again for the attempts of an accepted submission, or when its event is replayed. They run for the
 * replay of a raw request, which counts as a new receipt, and for a test event, which counts as a new send. They do not
 * run for Posthorn's own system events.
 */
export abstract class AcceptancePolicy {
  /**
   * Returns the decision. Must finish within two seconds, because the sender waits. After a refusal, nothing is stored,
   * and the sender receives 422 with `details.check: "policy"` and the reason. If a policy throws, returns an invalid
   * value or times out, nothing is accepted and the sender receives 503.
   */
  abstract rule(submission: Submission): Ruling | Promise<Ruling>;
}
