import { randomUUID } from 'node:crypto';
import { Consumer, type ConsumerOptions } from './consumer.js';
import { eventually } from './processes.js';
import { Provider } from './provider.js';
import type { Place, RangeReplay, Visit } from './routed.js';
import type { Scene } from './scene.js';

/** A replay job, reduced to the fields that the tests read. */
export interface Job {
  id: string;
  state: string;
  total_estimate: number;
  scanned: number;
  replayed: number;
  enqueued: number;
  skipped: number;
  excluded: number;
  resumed_from: number | null;
  created_at: string;
  started_at: string | null;
}

/** Numbers of two destinations. `ALL` gets all events. `SOME` is slow and gets only events that pass a filter. */
const [ALL, SOME] = [0, 7];
const PLACES: readonly Place[] = [
  { name: 'all', kinds: null, isPulled: false },
  { name: 'some', kinds: ['b'], isPulled: false },
  { name: 'feed', kinds: null, isPulled: true },
];
const ONLY_B = { path: '$.kind', op: 'eq', value: 'b' };

/** An inbound endpoint with three routes, for tests that observe its deliveries from outside of the service. */
export class Inbox {
  readonly places = PLACES;

  private constructor(
    private readonly scene: Scene,
    private readonly apis: readonly string[],
    private readonly endpoint: { id: string; path: string },
    private readonly feed: string,
  ) {}

  /**
   * Creates the endpoint through the first of the processes `apis`, which must be running. Later requests go to all of
   * these processes.
   */
  static async open(scene: Scene, apis: readonly string[]): Promise<Inbox> {
    const [api = ''] = apis;
    const { id: feed } = (await scene.call(api, 'POST', '/v1/destinations', { name: 'Feed', type: 'pull' })) as {
      id: string;
    };
    const routes = [
      { destination: scene.destinations[ALL] },
      { destination: scene.destinations[SOME], filter: ONLY_B },
      { destination: feed },
    ];
    const endpoint = (await scene.call(api, 'POST', '/v1/endpoints', { slug: randomUUID(), routes })) as {
      id: string;
      path: string;
    };
    return new Inbox(scene, apis, endpoint, feed);
  }

  provider(seed: number, concurrency: number): Provider {
    return new Provider({ urls: this.urls(), path: this.endpoint.path, seed, concurrency });
  }

  consumer(seed: number, how: Pick<ConsumerOptions, 'limit' | 'wait' | 'isCareless'> = {}): Consumer {
    return new Consumer({ urls: this.urls(), apiKey: this.scene.apiKey, feed: this.feed, place: 'feed', seed, ...how });
  }

  /** Returns all deliveries to the fast destination, the slow destination and the pull consumer. */
  async visits(consumer: Consumer): Promise<Visit[]> {
    const received = await this.scene.receiver.record();
    const named = received.map((arrival) => ({
      ...arrival,
      place: { [ALL]: 'all', [SOME]: 'some' }[arrival.destination] ?? 'nowhere',
    }));
    return [...named, ...consumer.visits];
  }

  /** Starts a replay of the endpoint's events. Repeats the request until it gets an answer. */
  async replay(): Promise<{ job: Job; asked: RangeReplay }> {
    const asked = { askedAtMs: Date.now(), untilMs: Date.now() };
    const body = { until: new Date(asked.untilMs).toISOString() };
    const job = await this.scene.persistently(this.apis, async (api) => {
      const { data } = (await this.scene.call(api, 'GET', `/v1/replays?endpoint=${this.endpoint.id}`)) as {
        data: Job[];
      };
      return data[0] ?? this.scene.call(api, 'POST', `/v1/endpoints/${this.endpoint.id}/replay`, body);
    });
    return { job: job as Job, asked };
  }

  async job(id: string): Promise<Job> {
    return (await this.scene.persistently(this.apis, (api) => this.scene.call(api, 'GET', `/v1/replays/${id}`))) as Job;
  }

  /** Returns the job as soon as it matches, or its last state on a timeout. */
  async jobWhen(id: string, isWanted: (job: Job) => boolean, withinMs: number, everyMs = 25): Promise<Job> {
    let job = await this.job(id);
    await eventually(async () => isWanted((job = await this.job(id))), withinMs, everyMs);
    return job;
  }

  private urls(): string[] {
    return this.apis.map((api) => this.scene.member(api).url);
  }
}
