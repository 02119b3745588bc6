import { Injectable } from '@nestjs/common';
import { type AuditEntry, AuditTrail } from '#kernel/audit.js';
import { sqlState } from '#kernel/database.js';
import { Ids, parseId } from '#kernel/ids.js';
import { AuditStore } from './audit.store.js';

const NO_PARTITION = '23514';

/** The audit log in PostgreSQL: one statement for each entry, in the caller's transaction where there is one. */
@Injectable()
export class StoredAuditTrail extends AuditTrail {
  constructor(
    private readonly store: AuditStore,
    private readonly ids: Ids,
  ) {
    super();
  }

  override async record(entry: AuditEntry): Promise<void> {
    const { kind, id } = entry.actor;
    const actorUuid = id === null ? null : kind === 'key' ? parseId('ek', id) : kind === 'member' ? parseId('mbr', id) : null;
    const write = (): Promise<void> => this.store.insert(this.ids.next(), entry, actorUuid);
    try {
      await write();
    } catch (error) {
      if (sqlState(error) !== NO_PARTITION) throw error;
      await this.store.ensurePartitions();
      await write();
    }
  }
}
