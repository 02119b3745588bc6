import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Repeats of a message are looked for by an index that no other one resembles. Partitions of received mail have no statistics; where one of
 * `(environment_id, alias_id, sha256)` and one of `(environment_id, alias_id, id)` both look as if they led to a single row, PostgreSQL took
 * the smaller once autovacuum had counted the rows: every message that came was compared with all of its alias on that day.
 *
 * `create index` takes a share lock on each partition: mail that comes in meanwhile waits for as long as it is read once, or is sent again.
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
