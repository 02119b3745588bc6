import type { Id } from './ids.js';

/** Who did something: a key, a member, the operator, a token that an extension vouches for, the session of a customers' portal, or nobody who is known. */
export interface AuditActor {
  kind: 'key' | 'member' | 'operator' | 'token' | 'portal' | 'unknown';
  /** `ek_…`, `mbr_…`, `pls_…`, the token's subject; null for the operator and for nobody. */
  id: string | null;
  /** `ses_…` of who was signed in and sent no key. */
  session?: string;
}

/** Where it came from. */
export interface AuditOrigin {
  ip: string;
  userAgent: string | undefined;
  requestId: string;
}

/** One thing that was done, or was tried. */
export interface AuditEntry {
  /** Null for what belongs to no organization: what the operator does, and strangers. */
  organizationId: Id | null;
  /** Null for what belongs to both environments. */
  environmentId: number | null;
  actor: AuditActor;
  /** The method and the template of the route (`PATCH /v1/keys/:id`), or a word for what is no call: `sign-in.failed`. */
  action: string;
  resourceType: string | null;
  resourceId: string | null;
  origin: AuditOrigin | null;
  /** What was there and what is there now, without secrets; null for nothing. */
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
}

/** The audit log, as whoever changes something sees it: it can be added to, and nothing else. */
export abstract class AuditTrail {
  /** Adds an entry: in the caller's transaction where there is one, otherwise committed when it resolves. */
  abstract record(entry: AuditEntry): Promise<void>;
}
