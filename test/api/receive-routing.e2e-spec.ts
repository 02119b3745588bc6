import { createHmac } from 'node:crypto';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectRefusal } from './answers.js';
import type { Inbound, Sent } from './receiving.js';
import { accepted, change, inbound, json, provide, requestOf, setSecret } from './receiving.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import {
  destinationAt,
  eventIn,
  eventOf,
  expectStatus,
  openSql,
  RARE_RETRIES,
  removeRow,
  startTargets,
} from './scene.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const LIMIT = 128 * 1024;

const form = (body: string): Sent => ({ body, headers: FORM });
const raw = (body: string | Buffer, headers: Record<string, string> = {}): Sent => ({ body, headers });

interface Case {
  filter: object;
  passes: [string, Sent][];
  fails: [string, Sent][];
}

const paid = json({ type: 'invoice.paid', amount: 4200, lines: [{ sku: 'a' }, { sku: 'b' }], test: false, none: null });

const CASES: [string, Case][] = [
  [
    'json, its type left out',
    {
      filter: { path: '$.type', op: 'eq', value: 'invoice.paid' },
      passes: [['', paid]],
      fails: [
        ['', json({ type: 'x' })],
        ['', json({})],
        ['', raw('')],
      ],
    },
  ],
  [
    'json: a wildcard',
    {
      filter: { type: 'json', path: '$.lines[*].missing', op: 'absent' },
      passes: [['', paid]],
      fails: [['', json({ lines: [{ missing: 1 }] })]],
    },
  ],
  [
    'json: a number',
    {
      filter: { path: '$.amount', op: 'gte', value: '4200' },
      passes: [
        ['', paid],
        ['', json({ amount: '5e3' })],
      ],
      fails: [
        ['', json({ amount: 4199.99 })],
        ['', json({ amount: 'many' })],
      ],
    },
  ],
  [
    'json: a value that is missing fails all but ne and absent',
    { filter: { path: '$.gone', op: 'ne', value: 'x' }, passes: [['', paid]], fails: [['', json({ gone: 'x' })]] },
  ],
  ['json: null exists', { filter: { path: '$.none', op: 'exists' }, passes: [['', paid]], fails: [['', json({})]] }],
  [
    'not, over a body that is not JSON',
    {
      filter: { not: { path: '$.type', op: 'eq', value: 'x' } },
      passes: [['', paid]],
      fails: [
        ['', json({ type: 'x' })],
        ['', raw('text')],
        ['', form('type=y')],
      ],
    },
  ],
  [
    'header',
    {
      filter: { type: 'header', name: 'X-Topic', op: 'starts_with', value: 'orders/' },
      passes: [['', raw('', { 'x-topic': 'orders/create' })]],
      fails: [
        ['', raw('')],
        ['', raw('', { 'x-topic': 'carts/x' })],
      ],
    },
  ],
  [
    'query',
    {
      filter: { type: 'query', name: 'env', op: 'in', value: 'eu, us' },
      passes: [
        ['?env=eu', raw('')],
        ['?a&env=%75s', raw('')],
      ],
      fails: [
        ['?env=asia', raw('')],
        ['', raw('')],
      ],
    },
  ],
  [
    'form',
    {
      filter: { type: 'form', name: 'Status', op: 'eq', value: 'a b' },
      passes: [['', form('Status=a+b&x=1')]],
      fails: [
        ['', form('Status=a')],
        ['', raw('Status=a+b', { 'content-type': 'text/plain' })],
      ],
    },
  ],
  [
    'body',
    {
      filter: { type: 'body', op: 'matches', value: '^<a>.*</a>$' },
      passes: [['', raw('<a>é</a>', { 'content-type': 'text/xml' })]],
      fails: [
        ['', raw('<b/>')],
        ['', raw('')],
      ],
    },
  ],
  [
    'method',
    {
      filter: { type: 'method', op: 'eq', value: 'put' },
      passes: [['', { ...raw(''), method: 'PUT' }]],
      fails: [['', raw('')]],
    },
  ],
  [
    'path',
    {
      filter: { type: 'path', op: 'ends_with', value: '/a b' },
      passes: [['/x/a%20b', raw('')]],
      fails: [
        ['', raw('')],
        ['/a/b', raw('')],
      ],
    },
  ],
  [
    'content_type',
    {
      filter: { type: 'content_type', op: 'eq', value: 'application/json' },
      passes: [['', raw('{}', { 'content-type': 'Application/JSON; charset=utf-8' })]],
      fails: [['', raw('{}')]],
    },
  ],
  [
    'ip',
    {
      filter: { type: 'ip', op: 'in', value: '127.0.0.0/8, 2001:db8::/32' },
      passes: [['', raw('', { 'x-forwarded-for': '10.0.0.1' })]],
      fails: [],
    },
  ],
  [
    'ip: a foreign address',
    {
      filter: { type: 'ip', op: 'eq', value: '10.0.0.1' },
      passes: [],
      fails: [['', raw('', { 'x-forwarded-for': '10.0.0.1' })]],
    },
  ],
  [
    'all and any',
    {
      filter: {
        all: [
          {
            any: [
              { path: '$.type', op: 'eq', value: 'a' },
              { path: '$.type', op: 'eq', value: 'b' },
            ],
          },
          { type: 'method', op: 'ne', value: 'GET' },
        ],
      },
      passes: [['', json({ type: 'b' })]],
      fails: [['', json({ type: 'c' })]],
    },
  ],
];

describe('routing', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const outcome = async ({ at }: Inbound, suffix: string, sent: Sent): Promise<string> => {
    const { json: answer } = expectStatus(await provide(server, `${at}${suffix}`, sent), 200);
    const event = await eventOf(server, answer.id);
    return event.status === 'ignored' ? 'ignored' : `to ${event.deliveries.length}`;
  };

  describe('filters', () => {
    let destination: string;
    let target: TargetPath;

    beforeAll(async () => {
      target = targets.open();
      destination = await destinationAt(server, target.url);
    });

    it.each(CASES)('%s', async (_title, { filter, passes, fails }) => {
      const endpoint = await inbound(server, { routes: [{ destination, filter }] });

      for (const [suffix, sent] of passes)
        expect([sent, await outcome(endpoint, suffix, sent)]).toEqual([sent, 'to 1']);
      for (const [suffix, sent] of fails)
        expect([sent, await outcome(endpoint, suffix, sent)]).toEqual([sent, 'ignored']);
    });

    it('verification: verified, failed and none', async () => {
      const endpoint = await inbound(server, {
        verification: 'hmac-sha256',
        routes: [{ destination, filter: { type: 'verification', op: 'eq', value: 'verified' } }],
      });
      await setSecret(server, endpoint, 's3cret');
      const signature = createHmac('sha256', 's3cret').update('{}').digest('hex');

      const verified = await outcome(endpoint, '', raw('{}', { 'x-signature': signature }));
      await change(server, endpoint, { verification: 'none' });
      const none = await outcome(endpoint, '', raw('{}', { 'x-signature': signature }));

      expect([verified, none]).toEqual(['to 1', 'ignored']);
    });

    it.each([
      ['json', { path: '$.a', op: 'exists' }],
      ['json through not', { not: { path: '$.b', op: 'exists' } }],
    ])('a body over 128 KB is not visible to %s; one of 128 KB is', async (_title, filter) => {
      const endpoint = await inbound(server, { routes: [{ destination, filter }] });
      const body = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;

      const inside = await outcome(endpoint, '', raw(body(LIMIT)));
      const outside = await outcome(endpoint, '', raw(body(LIMIT + 1)));

      expect([inside, outside]).toEqual(['to 1', 'ignored']);
    });

    it('over 128 KB a body filter sees the beginning of the body, and the event is delivered completely', async () => {
      const endpoint = await inbound(server, {
        routes: [
          {
            destination,
            filter: {
              all: [
                { type: 'body', op: 'starts_with', value: 'head' },
                { type: 'body', op: 'ends_with', value: 'x' },
              ],
            },
          },
        ],
      });
      const body = `head${'x'.repeat(LIMIT)}tail`;

      const id = await accepted(server, endpoint, raw(body));

      await eventIn(server, id, 'delivered');
      expect(
        target
          .posts()
          .find(({ headers }) => headers['webhook-id'] === id)
          ?.rawBody.toString(),
      ).toBe(body);
    });

    it('filters that cost too much do not match, and the request is answered', async () => {
      const leaf = { type: 'body', op: 'matches', value: '(x+x+)+y'.repeat(10) };
      const endpoint = await inbound(server, {
        routes: [{ destination, filter: { not: { all: Array.from({ length: 60 }, () => ({ not: leaf })) } } }],
      });

      expect(await outcome(endpoint, '', raw('x'.repeat(LIMIT)))).toBe('ignored');
      expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    });
  });

  it('each destination with a matching route gets one delivery, each with its own attempts', async () => {
    const [all, some] = [targets.open(), targets.open(() => ({ status: 500 }))];
    const [first, second] = [await destinationAt(server, all.url), await destinationAt(server, some.url, RARE_RETRIES)];
    const endpoint = await inbound(server, {
      routes: [{ destination: first }, { destination: second, filter: { path: '$.n', op: 'gt', value: '1' } }],
    });

    const one = await accepted(server, endpoint, json({ n: 1 }));
    const two = await accepted(server, endpoint, json({ n: 2 }));

    await eventIn(server, one, 'delivered');
    await some.arrived(1);
    await all.arrived(2);
    const event = await eventOf(server, two);
    expect(event.status).toBe('retrying');
    expect(event.deliveries.map((each: { destination: string }) => each.destination).sort()).toEqual(
      [first, second].sort(),
    );
    expect((await eventOf(server, one)).deliveries).toHaveLength(1);
    expect(all.posts().map(({ headers }) => headers['webhook-id'])).toEqual([one, two]);
    expect(some.posts().map(({ headers }) => headers['webhook-id'])).toEqual([two]);
  });

  it('ignored: an endpoint without routes stores the requests that it receives', async () => {
    const endpoint = await inbound(server);

    const id = await accepted(server, endpoint, json({ n: 1 }));

    expect(await eventOf(server, id)).toMatchObject({
      status: 'ignored',
      deliveries: [],
      attempts: [],
      destination: null,
      message_id: null,
    });
    expect(await requestOf(server, endpoint, id)).toMatchObject({ status: 'ignored' });
  });

  it('a disabled destination gets a failed delivery, which can be replayed once the destination is enabled', async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);
    const endpoint = await inbound(server, { destinations: [destination] });
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'disabled' }), 200);

    const id = await accepted(server, endpoint, json({ n: 1 }));

    const failed = await eventIn(server, id, 'failed');
    expect(failed.deliveries).toEqual([
      expect.objectContaining({ destination, status: 'failed', reason: 'target_disabled' }),
    ]);
    expectStatus(await server.api('PATCH', `/v1/destinations/${destination}`, { status: 'active' }), 200);
    expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);
    await eventIn(server, id, 'delivered');
    expect(target.posts()).toHaveLength(1);
  });

  it('409: a destination with a route cannot be deleted, and details.used_by names the route; 204 without the route', async () => {
    const destination = await destinationAt(server, targets.open().url);
    const [one, two] = [
      await inbound(server, { destinations: [destination] }),
      await inbound(server, { destinations: [destination] }),
    ];
    const {
      data: [route],
    } = (await server.api('GET', `/v1/endpoints/${one.id}/routes`)).json;

    const both = await server.api('DELETE', `/v1/destinations/${destination}`);
    expectStatus(await server.api('DELETE', `/v1/endpoints/${two.id}`), 204);
    const last = await server.api('DELETE', `/v1/destinations/${destination}`);
    expectStatus(await server.api('DELETE', `/v1/endpoints/${one.id}/routes/${route.id}`), 204);

    expectRefusal(both, 409);
    expect(
      both.json.error.details.used_by.map(({ kind, endpoint }: Record<string, string>) => [kind, endpoint]),
    ).toEqual([
      ['route', one.id],
      ['route', two.id],
    ]);
    expect(last.json.error.details).toEqual({ used_by: [{ kind: 'route', id: route.id, endpoint: one.id }] });
    expectStatus(await server.api('DELETE', `/v1/destinations/${destination}`), 204);
  });

  it('a missing destination gets a failed delivery; the other routes are not affected', async () => {
    const [target, kept] = [targets.open(), targets.open()];
    const destination = await destinationAt(server, target.url);
    const endpoint = await inbound(server, { destinations: [destination, await destinationAt(server, kept.url)] });
    await removeRow(sql, destination);

    const id = await accepted(server, endpoint, json({ n: 1 }));

    await kept.arrived(1);
    const { deliveries } = await eventIn(server, id, 'failed');
    expect(deliveries.map(({ status, reason }: { status: string; reason: string }) => [status, reason]).sort()).toEqual(
      [
        ['delivered', null],
        ['failed', 'target_gone'],
      ],
    );
    expect(target.posts()).toEqual([]);
  });
});
