import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds indexes for searching lists by name prefix, and the time at which a destination was disabled. The column is
 * nullable, so only the catalog changes. The indexes take a share lock on `destinations`, `applications` and
 * `application_endpoints` while each table is read once. Writes to these tables wait for that time, but deliveries only
 * read them. 100,000 rows take under one second, and ten million rows take about ten seconds.
 */
export class ListSearch1732686000000 implements MigrationInterface {
  name = 'ListSearch1732686000000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table destinations add column disabled_at timestamptz');
    // For destinations that are already disabled, the time of the last change is the best approximation.
    await runner.query(`update destinations set disabled_at = updated_at where status = 'disabled'`);
    await runner.query(
      `create index destinations_disabled_at_idx on destinations (environment_id, disabled_at) where status = 'disabled'`,
    );
    await runner.query(
      'create index destinations_name_idx on destinations (environment_id, lower(name) text_pattern_ops) where owner_id is null',
    );
    await runner.query(
      'create index applications_name_idx on applications (environment_id, lower(name) text_pattern_ops)',
    );
    await runner.query(`
      create index application_endpoints_disabled_idx on application_endpoints (environment_id, updated_at)
      where status = 'disabled' and destination_id <> id`);
    await runner.query(
      'create index applications_uid_prefix_idx on applications (environment_id, lower(uid) text_pattern_ops)',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'drop index applications_uid_prefix_idx, application_endpoints_disabled_idx, applications_name_idx, destinations_name_idx, destinations_disabled_at_idx',
    );
    await runner.query('alter table destinations drop column disabled_at');
  }
}
