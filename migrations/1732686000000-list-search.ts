import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Searches of lists by the beginning of a name, since when a destination is disabled, and which are. The column is nullable: only the catalogue
 * changes. The indexes take a share lock on `destinations`, `applications` and `application_endpoints` while each is read once: deliveries only read them, changes
 * wait. 100,000 rows take under a second, ten million some ten seconds.
 */
export class ListSearch1732686000000 implements MigrationInterface {
  name = 'ListSearch1732686000000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the tables would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query('alter table destinations add column disabled_at timestamptz');
    // The time of the last change is as near as is known.
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
