import pg from 'pg';
import { dataSource } from '../../src/bootstrap/data-source.js';
import type { Config } from '../../src/kernel/config/config.js';
import { Database } from '../../src/kernel/database/database.js';
import { AutoRepliesStore } from '../../src/modules/inbox/actions/auto-replies.store.js';
import { ForwardAddressesStore } from '../../src/modules/inbox/actions/forward-addresses.store.js';
import { recorder } from '../architecture/plans.js';
import { createDatabase, type TestDatabase } from '../support/database.js';

const ENVIRONMENT = 1;
const ALIAS = '00000000-0000-0000-0000-00000000000a';
const FORWARDED = 5_000;
const [LATEST, OTHER] = ['00000000-0000-0000-0000-0000000000f1', '00000000-0000-0000-0000-0000000000f2'];

/** Tests the SQL statements for forward addresses and automatic replies on a database. The service does not run. */
describe('the stores of alias actions', () => {
  let database: TestDatabase;
  let kernel: Database;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createDatabase('migrated');
    kernel = new Database(await dataSource(database.url, 1).initialize(), { databaseUrl: database.url } as Config);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`insert into organizations values ('00000000-0000-0000-0000-000000000001', 'a', 'A', now())`);
    await client.query(
      `insert into environments (organization_id, mode, secret) values ('00000000-0000-0000-0000-000000000001', 'live', '\\x00')`,
    );
  });

  afterAll(async () => {
    await client?.end();
    await kernel?.close();
    await database?.drop();
  });

  beforeEach(async () => {
    await client.query('truncate aliases, forward_addresses, auto_replies');
  });

  /** Creates aliases. `forwardTo` is SQL for an array of forward addresses, in which `i` is the number of the alias. */
  const addAliases = (count: number, forwardTo: string, removedAt = 'null'): Promise<unknown> =>
    client.query(
      `insert into aliases (environment_id, id, kind, local_part, address, destination_ids, allowed_senders, forward_to, version, created_at, updated_at, removed_at)
       select $1, id, 'platform', id, id || '@in.example', '{}', '{}', ${forwardTo}, 1, now(), now(), ${removedAt}
       from (select i, gen_random_uuid() as id from generate_series(1, $2::int) i) made`,
      [ENVIRONMENT, count],
    );
  /** Creates forward addresses. `address` is SQL in which `i` is the number of the address. */
  const addAddresses = (count: number, address: string, state = 'confirmed', age = '2 days'): Promise<unknown> =>
    client.query(
      `insert into forward_addresses (environment_id, address, state, nonce, requested_at, tries)
       select $1, ${address}, $3, gen_random_uuid(), now() - $4::interval, 0 from generate_series(1, $2::int) i`,
      [ENVIRONMENT, count, state, age],
    );

  it('forgets the addresses that no alias forwards to, except refused and recent ones', async () => {
    await addAliases(1, `'{kept@b.example, also-kept@b.example}'`);
    await addAliases(1, `'{of-removed@b.example}'`, 'now()');
    await addAliases(1, `'{}'`);
    for (const name of ['kept', 'also-kept', 'of-removed', 'unused']) await addAddresses(1, `'${name}@b.example'`);
    await addAddresses(1, `'refused@b.example'`, 'refused');
    await addAddresses(1, `'recent@b.example'`, 'pending', '23 hours');

    await new ForwardAddressesStore(kernel).forget();

    const { rows } = await client.query<{ address: string }>('select address from forward_addresses order by address');
    expect(rows.map(({ address }) => address)).toEqual([
      'also-kept@b.example',
      'kept@b.example',
      'recent@b.example',
      'refused@b.example',
    ]);
  });

  it('looks addresses up by a hash to forget them, instead of comparing each one with each alias', async () => {
    await addAliases(FORWARDED, `array['a' || i || '@b.example']`);
    await addAddresses(FORWARDED, `'a' || i || '@b.example'`);
    await client.query('analyze aliases, forward_addresses');
    const { database: recording, recorded } = recorder();
    await new ForwardAddressesStore(recording).forget();

    const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
      `explain (format json) ${recorded[0]?.statement.text}`,
    );

    expect(JSON.stringify(rows[0]?.['QUERY PLAN'])).toMatch(/"(?:Hash|Merge) Cond":"[^"]*\bf\.address\b/);
  });

  it('claims a reply again for the same message, even if the alias has reached its hourly limit', async () => {
    const replies = new AutoRepliesStore(kernel);
    const claim = (sender: string, messageId: string) =>
      replies.claim({ environmentId: ENVIRONMENT, aliasId: ALIAS, sender, messageId, periodMs: 3_600_000 });
    await client.query(
      `insert into auto_replies select $1, $2, 'a' || i || '@b.example', gen_random_uuid(), now(), now() + interval '1 hour'
       from generate_series(2, $3::int) i`,
      [ENVIRONMENT, ALIAS, AutoRepliesStore.HOURLY_MAX],
    );

    expect(await claim('last@b.example', LATEST)).toBe('claimed');

    expect(await claim('last@b.example', LATEST)).toBe('claimed');
    expect(await claim('last@b.example', OTHER)).toBe('recent');
    expect(await claim('next@b.example', OTHER)).toBe('limit');
  });
});
