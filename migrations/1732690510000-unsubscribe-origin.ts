import type { MigrationInterface, QueryRunner } from 'typeorm';

const BEFORE = ['bounce', 'complaint', 'manual'];

/**
 * Allows the origin `unsubscribe` of suppressions. Existing rows satisfy the new check because they satisfied the old
 * one, which is narrower. They are therefore not read again (`not valid`), and the access exclusive lock on
 * `suppressions` is brief, whatever the size of the list.
 */
export class UnsubscribeOrigin1732690510000 implements MigrationInterface {
  name = 'UnsubscribeOrigin1732690510000';

  async up(runner: QueryRunner): Promise<void> {
    await replace(runner, [...BEFORE, 'unsubscribe']);
  }

  async down(runner: QueryRunner): Promise<void> {
    // The earlier build does not support the origin `unsubscribe`. With the origin `manual`, these addresses stay
    // suppressed.
    await runner.query(`update suppressions set origin = 'manual' where origin = 'unsubscribe'`);
    await replace(runner, BEFORE);
  }
}

async function replace(runner: QueryRunner, origins: readonly string[]): Promise<void> {
  const list = origins.map((origin) => `'${origin}'`).join(', ');
  // Waits at most 10 s for the lock, because new queries on the table queue behind a waiting migration. After a
  // timeout, the start of the service fails and is retried.
  await runner.query(`set local lock_timeout = '10s'`);
  await runner.query(`
    alter table suppressions drop constraint suppressions_origin_check,
      add constraint suppressions_origin_check check (origin in (${list})) not valid`);
}
