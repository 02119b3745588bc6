import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Marks events that a transform dropped. No replay may send such an event (see `isDropped`). Adding a nullable column
 * without a default changes only the catalog, and one brief lock covers all partitions. Events of earlier builds stay
 * unmarked.
 *
 * Earlier builds replayed such events with the received body. The update cancels these replays if their deliveries
 * still wait. It reads `due_deliveries` once, and looks up an event and its request for each replayed delivery: at most
 * one minute per million deliveries.
 */
export class DroppedEvents1732690120000 implements MigrationInterface {
  name = 'DroppedEvents1732690120000';

  async up(runner: QueryRunner): Promise<void> {
    // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
    // timeout, the start of the service fails and is retried.
    await runner.query(`set local lock_timeout = '10s'`);
    await runner.query(`
      update due_deliveries d set withdrawn = 'cancelled' where d.replayed and d.withdrawn is null and (
        select r.note from events e join requests r on r.environment_id = e.environment_id and r.id = e.id and r.expires_on = e.expires_on
        where e.environment_id = d.environment_id and e.id = d.event_id and e.expires_on = d.expires_on and e.disposition = 'ignored'
      ) = 'The transform dropped it.'`);
    // Runs last, so that `events` is locked only briefly. Processes of an earlier build cannot accept messages while
    // the table is locked.
    await runner.query('alter table events add column dropped boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('alter table events drop column dropped');
  }
}
