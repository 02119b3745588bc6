import type { Id } from './ids.js';

/** Actor of an audited action: a key, member, operator, extension token, portal session, or an unknown caller. */
export interface AuditActor {
  kind: 'key' | 'member' | 'operator' | 'token' | 'portal' | 'unknown';
  /**
   * Id of the key (`ek_…`), member (`mbr_…`) or portal session (`pls_…`), or the subject of the extension's token. Null
   * for the operator and for unknown callers.
   */
  id: string | null;
  /** Id of the session, if the actor used a session instead of a key. */
  session?: string;
}

export interface AuditOrigin {
  ip: string;
  userAgent: string | undefined;
  requestId: string;
}

export interface AuditEntry {
  /** Null for actions of the operator and of unknown callers, which belong to no organization. */
  organizationId: Id | null;
  /** Null if the action concerns both environments. */
  environmentId: number | null;
  actor: AuditActor;
  /**
   * Method and route template (`PATCH /v1/keys/:id`), or a word for actions that are not API calls: `sign-in.failed`.
   */
  action: string;
  resourceType: string | null;
  resourceId: string | null;
  origin: AuditOrigin | null;
  /** State before and after the action, without secrets. Null if there is none. */
  before: Readonly<Record<string, unknown>> | null;
  after: Readonly<Record<string, unknown>> | null;
}

export abstract class AuditTrail {
  /**
   * Records an entry in the caller's transaction. If there is no transaction, the entry is committed when the promise
   * resolves.
   */
  abstract record(entry: AuditEntry): Promise<void>;
}
