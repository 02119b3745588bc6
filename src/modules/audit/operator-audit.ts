import type { AuditEntry } from '#kernel/audit.js';
import type { Database } from '#kernel/database/database.js';
import type { Ids } from '#kernel/ids.js';
import { AuditStore } from './audit.store.js';
import { StoredAuditTrail } from './stored-audit-trail.js';

/** Change that a command of the operator made. `organizationId` and `environmentId` are null unless given. */
type Change = Pick<AuditEntry, 'resourceType' | 'resourceId'> &
  Partial<Pick<AuditEntry, 'organizationId' | 'environmentId' | 'before' | 'after'>>;

/** Writes the audit entries of commands that the operator runs on the database (see `src/programs`). */
export class OperatorAudit {
  private constructor(private readonly trail: StoredAuditTrail) {}

  /** Returns the audit log. Creates missing partitions first, because the service may have been stopped for months. */
  static async open(database: Database, ids: Ids): Promise<OperatorAudit> {
    const store = new AuditStore(database);
    await store.ensurePartitions();
    return new OperatorAudit(new StoredAuditTrail(store, ids));
  }

  /** Records a change in the caller's transaction. `command` is, for example, `posthorn orgs create`. */
  record(command: string, change: Change): Promise<void> {
    return this.trail.record({
      organizationId: null,
      environmentId: null,
      actor: { kind: 'operator', id: null },
      action: command,
      origin: null,
      before: null,
      after: null,
      ...change,
    });
  }
}
