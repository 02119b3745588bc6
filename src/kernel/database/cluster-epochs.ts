import { Inject, Injectable, Logger } from '@nestjs/common';
import { Database, type Statement } from './database.js';
import { Notifications } from './notifications.js';

/**
 * SQL expression for the current cluster and timeline. The timeline is null on a standby, which writes nothing.
 *
 * Reads the timeline from the name of the WAL file, which changes immediately at a promotion. The control file has the
 * timeline of the last checkpoint, which may be minutes old.
 */
const NOW = `(
  select system_identifier, case when not pg_is_in_recovery()
           then ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline_id
  from pg_control_system())`;

/**
 * SQL expression for the epoch of the current transaction. Each cluster and timeline has its own epoch, because
 * transaction ids are comparable only within one cluster and timeline.
 *
 * If the newest recorded epoch belongs to another cluster or timeline, the result is a higher epoch, which need not be
 * recorded yet. It increases by the number of new timelines, so that two timelines never share an epoch.
 */
export const EPOCH = `(
  select c.epoch + case when n.timeline_id is null then 0 when c.system_identifier <> n.system_identifier then 1
                        when c.timeline_id <> n.timeline_id then greatest(n.timeline_id - c.timeline_id, 1) else 0 end
  from cluster_epochs c, ${NOW} n where c.epoch = (select max(epoch) from cluster_epochs))`;

/** Waits for transactions that still write pull items, because readers treat all items of older epochs as committed. */
export const LOCK_FOR_EPOCH = 'lock table pull_items in share row exclusive mode';

export const IS_EPOCH_RECORDED = `select 1 from cluster_epochs where epoch = ${EPOCH}`;

/** Inserts the current epoch. Returns its number if it was not recorded yet. */
export const RECORD_EPOCH = `
  insert into cluster_epochs (epoch, system_identifier, timeline_id)
  select coalesce(${EPOCH}, 1), n.system_identifier, n.timeline_id from ${NOW} n where n.timeline_id is not null
  on conflict do nothing returning epoch`;

/** Begins a new epoch on the same cluster and timeline. */
const BEGIN_EPOCH = `
  insert into cluster_epochs (epoch, system_identifier, timeline_id)
  select ${EPOCH} + 1, n.system_identifier, n.timeline_id from ${NOW} n where n.timeline_id is not null
  on conflict do nothing returning epoch`;

const statement = (name: string, text: string): Statement => ({ name: `epochs_${name}`, text });
const IS_RECORDED = statement('is_recorded', IS_EPOCH_RECORDED);
const LOCK = statement('lock', LOCK_FOR_EPOCH);
const RECORD = statement('record', RECORD_EPOCH);
const BEGIN = statement('begin', BEGIN_EPOCH);

/** Records the clusters and timelines on which this database has run. See ADR 9. */
@Injectable()
export class ClusterEpochs {
  private readonly logger = new Logger(ClusterEpochs.name);

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Notifications) notifications: Notifications,
  ) {
    // `*` means that the LISTEN connection was re-established, possibly to another server.
    notifications.on('cluster', (key) => {
      if (key === '*') void this.record();
    });
  }

  /**
   * Begins a new epoch. Call it if a client has a position that this database cannot have issued yet. In that case, the
   * database was reset without a new timeline, for example by copying older files over it.
   */
  async begin(): Promise<void> {
    await this.write(BEGIN, 'The database was reset to an earlier state.');
  }

  private async record(): Promise<void> {
    try {
      if ((await this.database.query(IS_RECORDED)).length > 0) return;
      await this.write(RECORD, 'The database now runs on another cluster, or on another timeline.');
    } catch (error) {
      // A failure is harmless, because `EPOCH` is also correct after one unrecorded change of the cluster or timeline.
      // It becomes wrong only if two more changes follow before the next attempt to record them.
      this.logger.warn(
        `The timeline of the database is not recorded yet: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  private async write(what: Statement, why: string): Promise<void> {
    const [made] = await this.database.transaction(async () => {
      await this.database.query(LOCK);
      return this.database.query<{ epoch: number }>(what);
    });
    if (made) this.logger.warn(`${why} Epoch ${made.epoch} of pulled items begins; earlier cursors are rejected.`);
  }
}
