import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Removes URLs from destinations of the types `pull` and `sqs`, which earlier builds stored and ignored. Reads the whole
 * table once without blocking other queries, and locks only the rows that it changes. An environment has few
 * destinations.
 */
export class PulledUrls1732690740000 implements MigrationInterface {
  name = 'PulledUrls1732690740000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`update destinations set url = null where type in ('pull', 'sqs') and url is not null`);
  }

  /** Restores nothing: deliveries never used these URLs. */
  async down(): Promise<void> {}
}
