import { createHmac } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { accepted, inbound, type Json, json, provide, type Sent, setSecret } from './receiving.js';
import { destinationAt, eventIn, expectStatus, RARE_RETRIES, startTargets, type Targets } from './scene.js';

const ID = '72d3162e-cc78-11e3-81ab-4c9367dc0958';
const SECRET = 's3cret';

function github(id: string): Sent {
  const sent = json({ action: 'opened' }, { 'x-github-delivery': id, 'x-github-event': 'issues' });
  const signature = createHmac('sha256', SECRET)
    .update(sent.body ?? '')
    .digest('hex');
  return { ...sent, headers: { ...sent.headers, 'x-hub-signature-256': `sha256=${signature}` } };
}

describe("GET /v1/events by the provider's delivery id", () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  const page = async (query: Record<string, string>): Promise<{ data: Json[]; next_cursor: string | null }> =>
    expectStatus(await server.api('GET', `/v1/events?${new URLSearchParams(query)}`), 200).json;
  const idsOf = async (query: Record<string, string>): Promise<string[]> =>
    (await page(query)).data.map(({ id }) => id as string);

  it('200: the events of all requests with this id, newest first, with other filters, page by page, and counted', async () => {
    const failing = await destinationAt(server, targets.open(() => ({ status: 503 })).url, RARE_RETRIES);
    const good = await destinationAt(server, targets.open().url);
    const endpoint = await inbound(server, { preset: 'github', destinations: [failing, good] });
    const other = await inbound(server, { preset: 'github', destinations: [good] });
    for (const each of [endpoint, other]) await setSecret(server, each, SECRET);
    const first = await accepted(server, endpoint, github(ID));
    await accepted(server, endpoint, github('another id'));
    const second = await accepted(server, other, github(ID));
    await eventIn(server, second, 'delivered');

    expect(await idsOf({ dedupe_id: ID })).toEqual([second, first]);
    expect(await idsOf({ dedupe_id: ID, endpoint: endpoint.id })).toEqual([first]);
    expect(await idsOf({ dedupe_id: ID, event_type: 'issues.opened', direction: 'inbound' })).toEqual([second, first]);
    expect(await idsOf({ dedupe_id: ID, status: 'retrying' })).toEqual([first]);
    expect(await idsOf({ dedupe_id: ID, status: 'delivered,dlq' })).toEqual([second]);
    expect(await idsOf({ dedupe_id: ID, destination: failing })).toEqual([first]);
    expect(await idsOf({ dedupe_id: ID, destination: failing, status: 'retrying' })).toEqual([first]);
    expect(await idsOf({ dedupe_id: ID, destination: good, status: 'retrying' })).toEqual([]);
    expect(await idsOf({ dedupe_id: ID, destination: failing, status: 'retrying,dlq' })).toEqual([first]);
    expect(await idsOf({ dedupe_id: ID, q: first })).toEqual([first]);
    const { data, next_cursor: cursor } = await page({ dedupe_id: ID, limit: '1' });
    expect(data.map(({ id }) => id as string)).toEqual([second]);
    expect(await idsOf({ dedupe_id: ID, limit: '1', cursor: cursor ?? '' })).toEqual([first]);
    expect(
      expectStatus(await server.api('GET', `/v1/events/count?${new URLSearchParams({ dedupe_id: ID })}`), 200).json,
    ).toEqual({ count: 2, is_capped: false });
    for (const query of [
      { dedupe_id: ID.slice(1) },
      { dedupe_id: ID.toUpperCase() },
      { dedupe_id: ID, direction: 'outbound' },
      { dedupe_id: ID, application: 'customer-42' },
      { dedupe_id: ID, status: 'parked' },
    ] as Record<string, string>[])
      expect(await page(query)).toEqual({ data: [], next_cursor: null });
    const { key } = await createKey(server, { scope: 'read', environment: 'test' });
    expect((await server.api('GET', `/v1/events?dedupe_id=${ID}`, undefined, as(key))).json).toEqual({
      data: [],
      next_cursor: null,
    });
  }, 30_000);

  it('200: finds the one event of several duplicates, also by the longest id that an endpoint accepts', async () => {
    const endpoint = await inbound(server, { deduplicate: { source: 'body_path', path: '$.key' } });
    const longest = '\u{1F4EF}'.repeat(1_024);
    const event = await accepted(server, endpoint, json({ key: longest }));
    await provide(server, endpoint.at, json({ key: longest, again: true }));

    expect(await idsOf({ dedupe_id: longest })).toEqual([event]);
  });

  it('a job by filter selects the events of the id, and 422 for a malformed id or status', async () => {
    const dryRun = (filter: object): Promise<ApiAnswer> =>
      server.api('POST', '/v1/replays', { action: 'replay', filter, dry_run: true });

    expect(expectStatus(await dryRun({ dedupe_id: ID }), 200).json).toMatchObject({ count: 2 });
    expectInvalid(await dryRun({ dedupe_id: '' }), 'schema', 'filter.dedupe_id');
    expectInvalid(await dryRun({ response_status: 600 }), 'schema', 'filter.response_status');
  });

  it.each(['dedupe_id=', `dedupe_id=${'a'.repeat(1_025)}`, 'dedupe_id=a&dedupe_id=b'])('400: %.40s', async (query) => {
    expectRefusal(await server.api('GET', `/v1/events?${query}`), 400);
  });
});
