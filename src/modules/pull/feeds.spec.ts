import type { Cursors } from '#kernel/cursors.js';
import { ApiError } from '#kernel/errors.js';
import { type Id, lowestIdAt, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import type { Targets } from '#modules/destinations/targets.js';
import type { LiveEndpoints } from '#modules/receiving/live-endpoints.js';
import { Feeds } from './feeds.js';

const TENANT: Tenant = { environmentId: 1, organizationId: lowestIdAt(1), mode: 'live' };
const [HTTPS, PULL, PULL_TOO, DELETED] = [10, 11, 12, 13].map(lowestIdAt) as [Id, Id, Id, Id];
const TYPES = new Map([
  [HTTPS, 'https'],
  [PULL, 'pull'],
  [PULL_TOO, 'pull'],
]);
const ENDPOINT = lowestIdAt(20);

function feedsWith(...routes: Id[]): Feeds {
  const targets = {
    ofDestination: async (environmentId: number, id: Id) =>
      environmentId === 1 && TYPES.has(id)
        ? { targetId: id, type: TYPES.get(id), status: 'disabled', headers: { 'x-a': 'b' } }
        : null,
    adapter: (type: string) => ({ pulled: type === 'pull' }),
  };
  const endpoints = {
    find: async (environmentId: number, id: Id) =>
      environmentId === 1 && id === ENDPOINT ? { routes: routes.map((destinationId) => ({ destinationId })) } : null,
  };
  return new Feeds(targets as unknown as Targets, endpoints as unknown as LiveEndpoints, {} as Cursors);
}

const refusal = (feeds: Feeds, text: string, tenant = TENANT): Promise<unknown> =>
  feeds
    .find(tenant, text)
    .catch((error: unknown) => (error instanceof ApiError ? `${error.type}: ${error.message}` : error));

describe('Feeds', () => {
  it('finds all items of a pull destination, also of a disabled one', async () => {
    expect(await feedsWith().find(TENANT, showId('dst', PULL))).toEqual({
      environmentId: 1,
      keyId: PULL,
      targetId: PULL,
      endpointId: null,
      staticHeaders: { 'x-a': 'b' },
    });
  });

  it.each([
    ['only there', [PULL]],
    ['beside others', [HTTPS, PULL]],
    ['twice, by two filters', [PULL, HTTPS, PULL]],
    ['and to a deleted one', [DELETED, PULL]],
  ])('finds the items of an endpoint that is routed to a pull destination %s', async (_how, routes) => {
    expect(await feedsWith(...routes).find(TENANT, showId('ep', ENDPOINT))).toEqual({
      environmentId: 1,
      keyId: ENDPOINT,
      targetId: PULL,
      endpointId: ENDPOINT,
      staticHeaders: { 'x-a': 'b' },
    });
  });

  it.each([
    ['no id', 'nothing'],
    ['an id of another kind', showId('evt', PULL)],
    ['an unknown destination', showId('dst', DELETED)],
    ['an unknown endpoint', showId('ep', PULL)],
    ['a destination as an endpoint', showId('ep', PULL)],
    ['an id followed by other text', `${showId('dst', PULL)}x`],
  ])('not_found: %s', async (_what, text) => {
    expect(await refusal(feedsWith(PULL), text)).toMatch(/^not_found: /);
  });

  it.each(['dst', 'ep'] as const)('not_found: a %s_ id of another environment', async (prefix) => {
    const text = showId(prefix, prefix === 'dst' ? PULL : ENDPOINT);

    expect(await refusal(feedsWith(PULL), text, { ...TENANT, environmentId: 2 })).toMatch(/^not_found: /);
  });

  it.each([
    ['a destination that is not pulled', showId('dst', HTTPS), [], /is not of type pull/],
    ['an endpoint without routes', showId('ep', ENDPOINT), [], /no route to a destination of type pull/],
    [
      'an endpoint without a pull destination',
      showId('ep', ENDPOINT),
      [HTTPS, DELETED],
      /no route to a destination of type pull/,
    ],
    ['an endpoint with two', showId('ep', ENDPOINT), [PULL, PULL_TOO], /several destinations of type pull/],
  ])('conflict: %s', async (_what, text, routes, message) => {
    expect(await refusal(feedsWith(...routes), text)).toMatch(message);
    expect(await refusal(feedsWith(...routes), text)).toMatch(/^conflict: /);
  });
});
