import { showId } from '#kernel/ids.js';
import { type AskedRoute, type AskedRoutes, draftRoutes } from './route-drafts.js';

const uuid = (n: number): string => `01563e3a-b5d3-d676-4c61-efb9930000${String(n).padStart(2, '0')}`;
const dst = (n: number): string => showId('dst', uuid(n));
const rte = (n: number): string => showId('rte', uuid(n));
const FILTER = { path: '$.type', op: 'eq', value: 'a' };
const route = (destination: number, more: Partial<AskedRoute> = {}): AskedRoute => ({
  id: null,
  destination: dst(destination),
  filter: null,
  ...more,
});

const BEFORE = [
  { id: uuid(11), destinationId: uuid(1), filter: FILTER },
  { id: uuid(12), destinationId: uuid(2), filter: null },
];

describe('draftRoutes', () => {
  it('keeps the routes if none are given', () => {
    expect(draftRoutes(BEFORE, {})).toEqual({ drafts: null, faults: [] });
  });

  it.each<[string, AskedRoutes, object[]]>([
    ['no destinations', { destinations: [] }, []],
    [
      'destinations: those that stay keep their id and filter',
      { destinations: [dst(3), dst(1)] },
      [
        { id: null, destinationId: uuid(3), filter: null, at: 'destinations.0' },
        { id: uuid(11), destinationId: uuid(1), filter: FILTER, at: 'destinations.1' },
      ],
    ],
    [
      'routes: routes with an id stay, and only the given fields apply',
      { routes: [route(1, { id: rte(11) })] },
      [{ id: uuid(11), destinationId: uuid(1), filter: null, at: 'routes.0.destination' }],
    ],
    [
      'routes: the destination of an id can change',
      { routes: [route(3, { id: rte(12), filter: FILTER })] },
      [{ id: uuid(12), destinationId: uuid(3), filter: FILTER, at: 'routes.0.destination' }],
    ],
    [
      'routes: routes without an id are new',
      { routes: [route(1)] },
      [{ id: null, destinationId: uuid(1), filter: null, at: 'routes.0.destination' }],
    ],
    [
      'both, if they agree',
      { destinations: [dst(1)], routes: [route(1, { id: rte(11) })] },
      [{ id: uuid(11), destinationId: uuid(1), filter: null, at: 'routes.0.destination' }],
    ],
  ])('takes %s', (_what, asked, drafts) => {
    expect(draftRoutes(BEFORE, asked)).toEqual({ drafts, faults: [] });
  });

  it.each<[AskedRoutes, string[]]>([
    [{ destinations: ['dst_x'] }, ['destinations.0']],
    [{ destinations: [dst(1), rte(1)] }, ['destinations.1']],
    [{ destinations: [dst(1), dst(2), dst(1)] }, ['destinations.2']],
    [{ routes: [route(1, { destination: '' })] }, ['routes.0.destination']],
    [{ routes: [route(1), route(1)] }, ['routes.1.destination']],
    [{ routes: [route(1, { id: rte(11) }), route(2, { id: rte(11) })] }, ['routes.1.id']],
    [{ routes: [route(1, { id: rte(13) })] }, ['routes.0.id']],
    [{ routes: [route(1, { id: 'mine' })] }, ['routes.0.id']],
    [{ routes: [route(1, { filter: {} })] }, ['routes.0.filter.path', 'routes.0.filter.op']],
    [
      { routes: [route(1, { filter: { any: [FILTER, { not: { ...FILTER, op: 'like' } }] } })] },
      ['routes.0.filter.any.1.not.op'],
    ],
    [
      { routes: [route(1, { id: 'x', destination: 'y', filter: { all: [] } })] },
      ['routes.0.id', 'routes.0.destination', 'routes.0.filter.all'],
    ],
    [{ destinations: [dst(1)], routes: [route(2)] }, ['destinations']],
    [{ destinations: [dst(1), dst(2)], routes: [route(1)] }, ['destinations']],
    [{ destinations: [], routes: [route(1)] }, ['destinations']],
  ])('refuses %j', (asked, paths) => {
    expect(draftRoutes(BEFORE, asked).faults.map(({ path }) => path)).toEqual(paths);
  });
});
