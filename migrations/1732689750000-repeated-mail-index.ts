import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Replaces the index for the search for duplicate messages, because the planner chose another index. Partitions of
 * received mail have no statistics. Therefore the indexes on `(environment_id, alias_id, sha256)` and `(environment_id,
 * alias_id, id)` both seemed to lead to a single row. Once autovacuum had counted the rows, PostgreSQL chose the
 * smaller one. It then compared every incoming message with all messages of its alias on that day.
 *
 * `create index` takes a share lock on each partition while it reads the partition once. Mail that arrives in that time
 * waits or is sent again.
 */
export class RepeatedMailIndex1732689750000 implements MigrationInterface {
  name = 'RepeatedMailIndex1732689750000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create index inbox_messages_repeated_idx on inbox_messages (alias_id, sha256)');
    await runner.query('drop index inbox_messages_sha256_idx');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('create index inbox_messages_sha256_idx on inbox_messages (environment_id, alias_id, sha256)');
    await runner.query('drop index inbox_messages_repeated_idx');
  }
}
