import pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import { PLANNED_SETTINGS } from '../../src/kernel/database/planned-pool.js';
import { CancelStore } from '../../src/modules/ledger/cancel.store.js';
import type { ClaimedDelivery } from '../../src/modules/ledger/claims.contract.js';
import { DueStore } from '../../src/modules/ledger/due.store.js';
import type { DeliveryResult } from '../../src/modules/ledger/record.contract.js';
import { RecordStore } from '../../src/modules/ledger/record.store.js';
import { RedeliverStore } from '../../src/modules/ledger/redeliver.store.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { recorder } from './plans.js';

const ID = '01563e3a-b5d3-d676-4c61-efb99302bd5b';
const RESULT: DeliveryResult = {
  environmentId: 1,
  eventId: ID,
  ordinal: 0,
  claimedBy: ID,
  status: 'delivered',
  reason: null,
  dueInMs: null,
  parked: false,
  attemptsUsed: 1,
  pulled: false,
  counted: true,
  attempt: { number: 1, startedAtMs: 1, durationMs: 1, httpStatus: 200, error: null, excerpt: null },
};
const HELD = { environmentId: 1, eventId: ID, ordinal: 0, claimedBy: ID } as ClaimedDelivery;

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  Alias?: string;
  'Index Cond'?: string;
  'TID Cond'?: string;
  'Order By'?: string;
  Plans?: Node[];
}

/** Returns the statements that run for every delivery and look up due_deliveries by a key from another table. */
async function statements(): Promise<{ name: string; text: string }[]> {
  const { database, recorded } = recorder();
  const [record, due, cancel, redeliver] = [
    new RecordStore(database),
    new DueStore(database),
    new CancelStore(database),
    new RedeliverStore(database),
  ];
  for (const exchange of [undefined, '{}'])
    for (const pulled of [false, true])
      for (const status of ['delivered', 'retrying'] as const) {
        await record.write([
          { ...RESULT, status, pulled, attempt: { ...RESULT.attempt!, ...(exchange !== undefined && { exchange }) } },
        ]);
      }
  await due.claimThese(ID, [HELD]);
  await due.claimDue(ID, 10);
  await due.claimBeside(ID, [2], 10);
  await due.claimParked(ID, 1, ID, 10);
  await due.release([HELD], false);
  await due.park(1, ID);
  await cancel.ofEvents(1, [ID], 'cancelled').catch(() => undefined);
  await redeliver
    .to(1, [{ eventId: ID, expiresOn: '2026-12-01', targetId: ID, endpointId: null }] as never)
    .catch(() => undefined);
  return [...new Map(recorded.map(({ statement }) => [statement.name, statement])).values()];
}

/** Returns the plan nodes that scan due_deliveries with the alias `d` without an index lookup. */
function walks(node: Node): string[] {
  const isWalk =
    node['Relation Name'] === 'due_deliveries' &&
    node.Alias?.match(/^d(_\d+)?$/) &&
    /Scan$/.test(node['Node Type']) &&
    node['Index Cond'] === undefined &&
    node['TID Cond'] === undefined;
  return [...(isWalk ? [`${node['Node Type']} of ${node.Alias}`] : []), ...(node.Plans ?? []).flatMap(walks)];
}

describe('plans that were made while the queue was empty', () => {
  let testDatabase: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    testDatabase = await createDatabase();
    await (await dataSource(testDatabase.url).initialize()).destroy();
    client = new pg.Client({
      connectionString: testDatabase.url,
      options: PLANNED_SETTINGS.map((setting) => `-c ${setting}`).join(' '),
    });
    await client.connect();
    await client.query(`
      insert into due_deliveries (environment_id, event_id, ordinal, expires_on, target_id, due_at, parked, attempts, attempts_used, replayed, superseded)
      select 1, gen_random_uuid(), 0, current_date, gen_random_uuid(), now(), false, 0, 0, false, false from generate_series(1, 500)`);
    await client.query('delete from due_deliveries');
    await client.query('vacuum analyze due_deliveries');
  });

  afterAll(async () => {
    await client?.end();
    await testDatabase?.drop();
  });

  it('find open deliveries by their key, and never scan all of them', async () => {
    const walked: string[] = [];
    const asked = await statements();
    for (const { name, text } of asked) {
      const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
        `explain (generic_plan, format json) ${text}`,
      );
      walked.push(...walks(rows[0]!['QUERY PLAN'][0].Plan).map((walk) => `${name}: ${walk}`));
    }

    expect(asked.length).toBeGreaterThan(12);
    expect(walked).toEqual([]);
  });

  it('would scan all of them with the obvious form of the condition', async () => {
    const naive = `with k as materialized (select * from unnest($1::int[], $2::uuid[], $3::smallint[]) k(environment_id, event_id, ordinal))
      delete from due_deliveries d using k where d.environment_id = k.environment_id and d.event_id = k.event_id and d.ordinal = k.ordinal`;
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (generic_plan, format json) ${naive}`,
    );

    expect(walks(rows[0]!['QUERY PLAN'][0].Plan)).toEqual(['Index Scan of d']);
  });
});
