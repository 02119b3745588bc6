import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds recovery, cancellation and erasure. Replay jobs get a kind and the parameters of a recovery. `withdrawn` marks a
 * delivery that is canceled or erased while a worker has claimed it, and decides how the worker ends the delivery.
 * Nullable columns and constant defaults change only the catalog.
 */
export class Recover1732400400000 implements MigrationInterface {
  name = 'Recover1732400400000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
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
    // Deletes recovery jobs: an older release would treat them as replays for an endpoint that does not exist.
    await runner.query(`delete from replay_jobs where kind = 'recover'`);
    await runner.query(`
      alter table replay_jobs drop column include_cancelled, drop column target_id, drop column application_id, drop column kind`);
  }
}
