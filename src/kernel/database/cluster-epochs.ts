import { Inject, Injectable, Logger } from '@nestjs/common';
import { Database, type Statement } from './database.js';
import { Notifications } from './notifications.js';

/**
 * The cluster and the timeline that are written to now. The control file tells the timeline of the last checkpoint, minutes
 * behind; the name of the WAL file is right from the promotion on. Null on a standby, which writes nothing.
 */
const NOW = `(
  select system_identifier, case when not pg_is_in_recovery()
           then ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline_id
  from pg_control_system())`;

/**
 * The epoch of the transaction that asks, as SQL. Transaction ids are those of one PostgreSQL cluster and timeline: on another
 * one than the newest that is recorded the epoch is a later one from its first statement on, whether or not any process has
 * noticed. Timelines that nobody recorded in between count too, so that two of them never share an epoch.
 */
export const EPOCH = `(
  select c.epoch + case when n.timeline_id is null then 0 when c.system_identifier <> n.system_identifier then 1
                        when c.timeline_id <> n.timeline_id then greatest(n.timeline_id - c.timeline_id, 1) else 0 end
  from cluster_epochs c, ${NOW} n where c.epoch = (select max(epoch) from cluster_epochs))`;

/** Makes the table ready for `RECORD_EPOCH`: waits for whoever still writes items, as a reader takes all of an older epoch for committed. */
export const LOCK_FOR_EPOCH = 'lock table pull_items in share row exclusive mode';

/** Whether the newest epoch that is recorded is the one of now. */
export const IS_EPOCH_RECORDED = `select 1 from cluster_epochs where epoch = ${EPOCH}`;

/** Records the epoch of now, unless it is; returns its number when it was not. */
export const RECORD_EPOCH = `
  insert into cluster_epochs (epoch, system_identifier, timeline_id)
  select coalesce(${EPOCH}, 1), n.system_identifier, n.timeline_id from ${NOW} n where n.timeline_id is not null
  on conflict do nothing returning epoch`;

/** A further epoch of the same cluster and timeline. */
const BEGIN_EPOCH = `
  insert into cluster_epochs (epoch, system_identifier, timeline_id)
  select ${EPOCH} + 1, n.system_identifier, n.timeline_id from ${NOW} n where n.timeline_id is not null
  on conflict do nothing returning epoch`;

const statement = (name: string, text: string): Statement => ({ name: `epochs_${name}`, text });
const IS_RECORDED = statement('is_recorded', IS_EPOCH_RECORDED);
const LOCK = statement('lock', LOCK_FOR_EPOCH);
const RECORD = statement('record', RECORD_EPOCH);
const BEGIN = statement('begin', BEGIN_EPOCH);

/** Keeps the record of the clusters and timelines that this database has lived on: see ADR 9. */
@Injectable()
export class ClusterEpochs {
  private readonly logger = new Logger(ClusterEpochs.name);

  constructor(
    @Inject(Database) private readonly database: Database,
    @Inject(Notifications) notifications: Notifications,
  ) {
    // Whoever listens is told `*` whenever the connection is there again: what was away may have come back as another one.
    notifications.on('cluster', (key) => {
      if (key === '*') void this.record();
    });
  }

  /** A position was seen that this database can't have given out yet: it was set back without a new timeline, by a copy of its files. */
  async begin(): Promise<void> {
    await this.write(BEGIN, 'The database was set back to an earlier state.');
  }

  private async record(): Promise<void> {
    try {
      if ((await this.database.query(IS_RECORDED)).length > 0) return;
      await this.write(RECORD, 'The database goes on in another cluster, or on another timeline.');
    } catch (error) {
      // Nothing depends on it but two further changes before the next try: the statements tell by themselves.
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
    if (made) this.logger.warn(`${why} Epoch ${made.epoch} of what is pulled begins; cursors of before are refused.`);
  }
}
