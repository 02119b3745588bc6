import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitionIndex } from '../src/kernel/database/partition-index.js';

/**
 * Indexes the raw requests by the provider's id of its delivery, to find the events of a delivery. The index contains a
 * hash of the id and the environment, because an id of 1,024 characters does not fit into an index row. Requests
 * without an id and duplicates are not in the index. Each partition is read once under a share lock. Receiving a
 * request waits only while the partition of the request's expiry day is read: about one second for a million rows.
 */
export class DedupeIdsIndex1732690710000 implements MigrationInterface {
  name = 'DedupeIdsIndex1732690710000';
  /** False, because a transaction would hold the lock of each partition until all partitions are indexed. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createPartitionIndex(runner, {
      table: 'requests',
      name: 'requests_dedupe_id_idx',
      definition:
        '(hashtextextended(dedupe_id, environment_id), id) where dedupe_id is not null and duplicate_of is null',
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index requests_dedupe_id_idx');
  }
}
