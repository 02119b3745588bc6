import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createPartitionIndex } from '../src/kernel/database/partition-index.js';

/**
 * Indexes the raw requests whose body was too large. The index contains only such requests, so receiving other requests
 * does not update it. Each partition is read once under a share lock. Receiving a request waits only while the
 * partition of the request's expiry day is read: about one second for a million rows.
 */
export class TooLargeIndex1732690210000 implements MigrationInterface {
  name = 'TooLargeIndex1732690210000';
  /** False, because a transaction would hold the lock of each partition until all partitions are indexed. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await createPartitionIndex(runner, {
      table: 'requests',
      name: 'requests_too_large_idx',
      definition: '(environment_id, endpoint_id, id) where too_large',
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index requests_too_large_idx');
  }
}
