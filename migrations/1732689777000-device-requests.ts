import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The scope that a device asks for, and the name of the machine that it says it runs on. Columns without a default rewrite nothing. The table holds
 * the device logins of one day; it is locked for the moment that the catalogue takes.
 */
export class DeviceRequests1732689777000 implements MigrationInterface {
  name = 'DeviceRequests1732689777000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would block every query: fail the start instead, which is then retried.
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
