import type { Tenant } from '#kernel/tenant.js';

/** What is about to be accepted. */
export interface Submission {
  /** `send` for `POST /v1/send`, `fan_out` for an event to an application, `receipt` for a request to an endpoint, `email` for each email. */
  kind: 'send' | 'fan_out' | 'receipt' | 'email';
  tenant: Tenant;
  /** Where it goes, as it was named: `dst_…` or a URL of a send, `app_…` or the caller's own id of a fan-out, `ep_…` of a receipt; of an email its recipients' addresses with commas between them. */
  to: string;
  eventType: string;
  /** Those that deliveries will carry, names in lower case; of a receipt, those that the provider sent; of an email, the caller's own. */
  headers: Readonly<Record<string, string>>;
  /** The very characters of a payload, or the bytes of a request as it came; of an email its fields as JSON, files without their bytes. */
  payload: string | Buffer;
}

/** `null` takes it as it is; headers are added to its deliveries (of an email to the message), in place of what its sender gave them; a refusal says why. */
export type Ruling = { refuse: string } | { headers: Readonly<Record<string, string>> } | null;

/**
 * Rules on everything before it is accepted: a send, a fan-out (once, whatever its endpoints), an email (a scheduled one when it
 * is accepted, not when it leaves), and what an endpoint receives once its signature holds. Any provider of an extension that extends this is asked, one after the other; the
 * first refusal ends it. What was accepted is not asked about again: not for an attempt, not for a replay of an event.
 * A replay of a raw request, and test events, are new receipts and sends. The service's own system events are not asked about.
 */
export abstract class AcceptancePolicy {
  /**
   * Within two seconds, of which every sender waits each. A refusal is 422 with `details.check: "policy"`, its sentence is
   * shown to the sender, and nothing is stored. A policy that throws, answers nonsense or never accepts nothing: 503.
   */
  abstract rule(submission: Submission): Ruling | Promise<Ruling>;
}

/** The policies of all extensions together. */
export abstract class AcceptancePolicies {
  /** False where no extension has a policy: then nobody asks. */
  abstract readonly isRuled: boolean;

  /** The headers to add; null for none. Throws 422 for what a policy refuses, and 503 when one can't decide. */
  abstract rule(submission: Submission): Promise<Record<string, string> | null>;
}
