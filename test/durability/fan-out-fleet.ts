import { type Kind, KINDS } from './payload.js';
import type { Seeded } from './random.js';
import { RETRY, type Scene } from './scene.js';

/** The attributes of an emission that subscriptions filter by. */
export interface Traits {
  eventType: string;
  channels: readonly string[];
  kind: Kind;
  isGold: boolean;
}

/** A subscription as it is registered, and the test's own implementation of its filter. */
export interface Subscription {
  settings: object;
  takes: (traits: Traits) => boolean;
  /** Target of the deliveries: a receiver path of this endpoint alone, a registered destination, or the feed. */
  goesTo: 'path' | 'registry' | 'feed';
}

/** An endpoint, and the receiver path or feed at which the test observes its deliveries. */
export interface Listener {
  /** Id of the endpoint (`ep_…`). */
  endpoint: string;
  /** The receiver's path, or `feed` for the pull destination. */
  place: string;
  isPulled: boolean;
  takes: Subscription['takes'];
}

/** An application as senders address it: by its id or its uid. */
export interface Application {
  reference: string;
  listeners: readonly Listener[];
}

export const FEED = 'feed';
const TYPES = ['invoice.paid', 'invoice.paid.late', 'invoice', 'user.created'] as const;
const CHANNELS = [[], [], ['north'], ['south', 'east'], ['north', 'west']] as const;
const GOLD_SHARE = 0.3;
const AT_ONCE = 8;

const onPath = (settings: object, takes: Subscription['takes']): Subscription => ({ settings, takes, goesTo: 'path' });
const OF_KIND_B = { path: '$.kind', op: 'eq', value: 'b' };
const GOLDEN = { type: 'header', name: 'x-tier', op: 'eq', value: 'gold' };

export const EVERYTHING = onPath({}, () => true);
export const ONLY_PAID = onPath({ event_types: ['invoice.paid'] }, ({ eventType }) => eventType === 'invoice.paid');
export const ONLY_B = onPath({ filter: OF_KIND_B }, ({ kind }) => kind === 'b');

/** Subscriptions with every kind of filter and every kind of target. */
export const SUBSCRIPTIONS: readonly Subscription[] = [
  EVERYTHING,
  ONLY_PAID,
  onPath({ event_types: ['invoice.*'] }, ({ eventType }) => eventType.startsWith('invoice.')),
  { settings: {}, takes: () => true, goesTo: 'registry' },
  onPath({ channels: ['north'] }, ({ channels }) => channels.includes('north')),
  ONLY_B,
  onPath(
    { event_types: ['user.*', 'invoice'] },
    ({ eventType }) => eventType === 'invoice' || eventType.startsWith('user.'),
  ),
  {
    settings: { event_types: ['invoice.*'] },
    takes: ({ eventType }) => eventType.startsWith('invoice.'),
    goesTo: 'feed',
  },
  onPath({ filter: { not: OF_KIND_B } }, ({ kind }) => kind !== 'b'),
  onPath({ channels: ['south', 'north'] }, ({ channels }) => channels.includes('south') || channels.includes('north')),
  onPath({ filter: GOLDEN }, ({ isGold }) => isGold),
  onPath(
    { event_types: ['invoice.paid'], channels: ['east', 'west'], filter: GOLDEN },
    ({ eventType, channels, isGold }) =>
      eventType === 'invoice.paid' && (channels.includes('east') || channels.includes('west')) && isGold,
  ),
];

/**
 * Returns applications with 1 to 12 endpoints: the first with one endpoint, the second with two, and so on. After an
 * application with 12 endpoints, the sequence begins again, with other subscriptions.
 */
export function customers(count: number): Subscription[][] {
  const all = SUBSCRIPTIONS.length;
  const at = (i: number): Subscription => SUBSCRIPTIONS[i % all] as Subscription;
  return Array.from({ length: count }, (_, a) =>
    Array.from({ length: 1 + (a % all) }, (_each, i) => at(a + Math.floor(a / all) + i)),
  );
}

/** Returns the number of receiver paths that the applications need. */
export function pathsOf(applications: readonly (readonly Subscription[])[]): number {
  return applications.flat().filter(({ goesTo }) => goesTo === 'path').length;
}

/**
 * Returns the index of each application's first receiver path. The first index is `first`. Omits applications without
 * receiver paths.
 */
export function firstPathsOf(applications: readonly (readonly Subscription[])[], first: number): number[] {
  let next = first;
  return applications.flatMap((subscriptions) => {
    const own = subscriptions.filter(({ goesTo }) => goesTo === 'path').length;
    next += own;
    return own === 0 ? [] : [next - own];
  });
}

/** Returns the attributes of the nth event that the test emits. Subscriptions filter by these attributes. */
export function traitsOf(n: number, random: Seeded): Traits {
  return {
    eventType: random.pick(TYPES),
    channels: random.pick<readonly string[]>(CHANNELS),
    kind: KINDS[n % KINDS.length] as Kind,
    isGold: random.next() < GOLD_SHARE,
  };
}

/**
 * Applications whose endpoints deliver to paths of the receiver, to registered destinations, and to one pull
 * destination.
 */
export class Fleet {
  private constructor(
    readonly applications: readonly Application[],
    /** The destination to pull from. */
    readonly feed: string,
  ) {}

  /** Creates the fleet through the process named `api`, which must be running. The receiver must have enough paths. */
  static async open(scene: Scene, api: string, wanted: readonly (readonly Subscription[])[]): Promise<Fleet> {
    const { id: feed } = (await scene.call(api, 'POST', '/v1/destinations', { name: 'Feed', type: 'pull' })) as {
      id: string;
    };
    let path = scene.destinations.length;
    const orders = wanted.map((subscriptions, a) => ({
      a,
      places: subscriptions.map((subscription) => placeFor(subscription, a % scene.destinations.length, () => path++)),
    }));
    const applications: Application[] = [];
    const worker = async (): Promise<void> => {
      for (let order = orders.shift(); order; order = orders.shift()) {
        applications[order.a] = await openApplication(scene, api, { ...order, feed });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return new Fleet(applications, feed);
  }
}

/** A subscription with the number of its receiver path or destination, or with null for the feed. */
interface Placed {
  subscription: Subscription;
  number: number | null;
}

function placeFor(subscription: Subscription, registered: number, ownPath: () => number): Placed {
  const number = { path: ownPath, registry: () => registered, feed: () => null }[subscription.goesTo]();
  return { subscription, number };
}

async function openApplication(
  scene: Scene,
  api: string,
  { a, places, feed }: { a: number; places: readonly Placed[]; feed: string },
): Promise<Application> {
  const uid = `customer-${a}-${feed.slice(-8)}`;
  const { id } = (await scene.call(api, 'POST', '/v1/app', { uid, name: uid })) as { id: string };
  const listeners: Listener[] = [];
  for (const {
    subscription: { settings, takes, goesTo },
    number,
  } of places) {
    const target = {
      path: { url: scene.receiver.url(number ?? 0), secret: scene.receiver.secrets[number ?? 0], retry: RETRY },
      registry: { destination: scene.destinations[number ?? 0] },
      feed: { destination: feed },
    }[goesTo];
    const endpoint = (await scene.call(api, 'POST', `/v1/app/${id}/endpoints`, { ...target, ...settings })) as {
      id: string;
    };
    listeners.push({
      endpoint: endpoint.id,
      place: number === null ? FEED : String(number),
      isPulled: number === null,
      takes,
    });
  }
  return { reference: a % 2 === 0 ? uid : id, listeners };
}
