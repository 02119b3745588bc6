import { Injectable } from '@nestjs/common';
import { type AuditEntry, AuditTrail } from '#kernel/audit.js';
import { sqlState } from '#kernel/database/database.js';
import { unavailable } from '#kernel/errors.js';
import { Ids, parseId } from '#kernel/ids.js';
import { AuditStore } from './audit.store.js';

const NO_PARTITION = '23514';

/** Writes the audit log to PostgreSQL, with one statement per entry, in the caller's transaction if there is one. */
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
    const actorUuid =
      id === null ? null : kind === 'key' ? parseId('ek', id) : kind === 'member' ? parseId('mbr', id) : null;
    try {
      await this.store.insert(this.ids.next(), entry, actorUuid);
    } catch (error) {
      if (sqlState(error) !== NO_PARTITION) throw error;
      // The partition was missing. PostgreSQL has aborted the caller's transaction, so this request fails, but a retry
      // finds the new partition.
      await this.store.ensurePartitions();
      throw unavailable(
        'A partition of the audit log was missing and has been created. Nothing was changed; send the request again.',
      );
    }
  }
}
