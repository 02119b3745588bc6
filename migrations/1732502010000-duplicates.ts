import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the deduplication key of an endpoint. A raw request that is a duplicate gets the event of the original request.
 * Nullable columns without a default change only the catalog. The indexes contain only duplicates, so receiving other
 * requests does not update them. `create index` takes a share lock on `requests` while it reads the table once.
 * Receiving waits for that time: about ten seconds for ten million rows.
 */
export class Duplicates1732502010000 implements MigrationInterface {
  name = 'Duplicates1732502010000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table endpoints add column deduplicate jsonb');
    await runner.query('alter table requests add column duplicate_of uuid');
    await runner.query(
      'create index requests_duplicates_idx on requests (environment_id, endpoint_id, id) where duplicate_of is not null',
    );
    await runner.query(
      'create index requests_duplicate_of_idx on requests (environment_id, duplicate_of) where duplicate_of is not null',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index requests_duplicate_of_idx');
    await runner.query('drop index requests_duplicates_idx');
    await runner.query('alter table requests drop column duplicate_of');
    await runner.query('alter table endpoints drop column deduplicate');
  }
}
