import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Recovering, cancelling and erasing. Replay jobs get a kind, and what a recovery needs to know; `withdrawn` says how a
 * delivery that a worker holds has to end. Nullable columns and constant defaults: only the catalogue changes.
 */
export class Recover1732400400000 implements MigrationInterface {
  name = 'Recover1732400400000';

  async up(runner: QueryRunner): Promise<void> {
    // Behind a long read the table would be closed to everybody: rather fail the start, which is then repeated.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      alter table replay_jobs
        add column kind text not null default 'range' check (kind in ('range', 'recover')),
        add column application_id uuid,
        add column target_id uuid,
        add column include_cancelled boolean not null default false`);
    await runner.query('alter table due_deliveries add column withdrawn text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table due_deliveries drop column withdrawn');
    // They would be taken for ranges of an endpoint that does not exist.
    await runner.query(`delete from replay_jobs where kind = 'recover'`);
    await runner.query(`
      alter table replay_jobs drop column include_cancelled, drop column target_id, drop column application_id, drop column kind`);
  }
}
