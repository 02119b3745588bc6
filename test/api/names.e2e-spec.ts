import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectRefusal, newOrganization, OPERATOR_KEY } from './answers.js';
import { applicationOf, endpointAt } from './applications.js';
import { inbound } from './receiving.js';
import { destinationAt, expectStatus, startTargets, type Targets } from './scene.js';

interface Name {
  id: string;
  name: string;
  type: string | null;
  application: string | null;
}

let server: PosthornServer;
let targets: Targets;

beforeAll(async () => {
  [server, targets] = await Promise.all([
    startServer({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ORG: 'off', OPERATOR_KEY }),
    startTargets(),
  ]);
});

afterAll(async () => {
  await Promise.all([server?.stop(), targets?.close()]);
});

const lookUp = (ids: readonly string[], headers = {}): ReturnType<PosthornServer['api']> =>
  server.api('GET', `/v1/names?${ids.map((id) => `id=${id}`).join('&')}`, undefined, headers);
const namesOf = async (ids: readonly string[], headers = {}): Promise<Record<string, Omit<Name, 'id'>>> => {
  const { data } = expectStatus(await lookUp(ids, headers), 200).json as { data: Name[] };
  return Object.fromEntries(data.map(({ id, ...name }) => [id, name]));
};

describe('GET /v1/names', () => {
  let destination: string;
  let application: string;
  let described: string;
  let unnamed: string;
  let shared: string;
  let inboundId: string;
  let all: string[];

  beforeAll(async () => {
    destination = await destinationAt(server, targets.open().url, { name: 'Orders' });
    application = await applicationOf(server, { name: 'Acme' });
    described = (await endpointAt(server, application, targets.open().url, { description: 'Main hook' })).id;
    unnamed = (await endpointAt(server, application, `${targets.open().url}?token=t`)).id;
    shared = expectStatus(await server.api('POST', `/v1/app/${application}/endpoints`, { destination }), 201).json
      .id as string;
    inboundId = (await inbound(server, { name: 'Payments' })).id;
    all = [destination, application, described, unnamed, shared, inboundId];
  });

  it('200: the names of destinations, applications, inbound endpoints and endpoints of applications in one call', async () => {
    const names = await namesOf(all);

    const address = expect.stringMatching(/^127\.0\.0\.1:\d+\/[^?]*$/);
    expect(names).toEqual({
      [destination]: { name: 'Orders', type: 'https', application: null },
      [application]: { name: 'Acme', type: null, application: null },
      [described]: { name: 'Main hook', type: 'https', application },
      [unnamed]: { name: address, type: 'https', application },
      [shared]: { name: address, type: 'https', application },
      [inboundId]: { name: 'Payments', type: null, application: null },
    });
  });

  it('200: a destination is found however many newer ones there are', async () => {
    const newer: string[] = [];
    for (let n = 0; n < 105; n += 1)
      newer.push(await destinationAt(server, targets.open().url, { name: `Newer ${n}` }));

    expect(await namesOf([destination])).toMatchObject({ [destination]: { name: 'Orders' } });
    expect(Object.keys(await namesOf(newer.slice(0, 100)))).toHaveLength(100);
  });

  it('200: another environment and another organization find nothing', async () => {
    const { key } = await createKey(server, { name: 'Test', scope: 'admin', environment: 'test' });
    const stranger = await newOrganization(server);

    expect(await namesOf(all, as(key))).toEqual({});
    expect(await namesOf(all, stranger)).toEqual({});
  });

  it('200: unknown ids, ids with the prefix of another resource, and other text are left out', async () => {
    const mixed = [
      `dst_${described.slice(3)}`,
      'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
      'x',
      "'",
      `ek_${application.slice(4)}`,
    ];

    expect(await namesOf(mixed)).toEqual({});
  });

  it('200 for scope read; 400 for no id, for more than 100 and for an id that is too long; 401 without a key', async () => {
    const { key } = await createKey(server, { name: 'Reader', scope: 'read' });

    expect(await namesOf([destination], as(key))).toHaveProperty([destination]);
    expectRefusal(await server.api('GET', '/v1/names'), 400);
    expectRefusal(await lookUp(Array.from({ length: 101 }, () => destination)), 400);
    expectRefusal(await lookUp(['d'.repeat(65)]), 400);
    expectRefusal(await lookUp([destination], { authorization: '' }), 401);
  });
});
