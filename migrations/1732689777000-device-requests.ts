import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds the scope that a device requests, and the machine name that it reports. Columns without a default rewrite
 * nothing. The table contains the device logins of one day and is locked briefly for the catalog change.
 */
export class DeviceRequests1732689777000 implements MigrationInterface {
  name = 'DeviceRequests1732689777000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table oauth_devices
        add column requested_scope text check (requested_scope in ('read', 'write', 'admin')),
        add column device_name text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table oauth_devices drop column requested_scope, drop column device_name');
  }
}
