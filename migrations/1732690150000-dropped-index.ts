import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitionIndex } from '../src/kernel/database/partition-index.js';

/**
 * Indexes the events of an endpoint that its transform dropped, in order, for jobs that release them. Other events are
 * not in the index, so accepting them does not update it. Each partition is read once under a share lock. Accepting an
 * event waits only while the partition of the event's expiry day is read: about one second for a million rows.
 */
export class DroppedIndex1732690150000 implements MigrationInterface {
  name = 'DroppedIndex1732690150000';
  /** False, because a transaction would hold the lock of each partition until all partitions are indexed. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createPartitionIndex(runner, {
      table: 'events',
      name: 'events_dropped_idx',
      definition: '(environment_id, target_id, id) where dropped',
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index events_dropped_idx');
  }
}
