import { randomBytes } from 'node:crypto';
import { generateApiKey } from '../../src/modules/auth/keys/api-key.js';
import { Pace } from '../support/pace.js';
import { type Arrival, check, type Disruption, type Outage, type Report } from './checker.js';
import { Load, type LoadOptions } from './load.js';
import { eventually, freePort, KeptProcess } from './processes.js';
import { ReceiverProcess } from './receiver.js';
import { openDeliveries, query } from './storage.js';

type Env = Readonly<Record<string, string>>;

/** Initial conditions of a scenario. */
export interface SceneOptions {
  seed: number;
  /**
   * URL of the database, or a function that returns the URL, because an embedded PostgreSQL has no address before its
   * start.
   */
  databaseUrl: string | (() => string);
  /** The processes by name, each with environment variables in addition to the common ones. */
  processes: Readonly<Record<string, Env>>;
  /** Environment variables of all processes. */
  env?: Env;
  /** True if the receiver answers 200 to everything. */
  isCalm?: boolean;
  /** Number of receiver paths in addition to those of the destinations. Each has its own secret. */
  paths?: number;
  /** Paths at which many first attempts fail. */
  flaky?: readonly number[];
  /**
   * Measures how much slower this machine is than a quiet one. By default, a new measurement is started. It is stopped
   * at the end of the scene in any case.
   */
  pace?: Pace;
}

export const DESTINATIONS = 8;
/**
 * Retry schedule: the upper limits of the random delays, in seconds. It has more attempts than any sequence of faults
 * uses up.
 */
export const RETRY = { schedule: [0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2] };
/**
 * Time limit until all deliveries have ended. Claims of a dead worker are released after ten seconds, and claims of an
 * unregistered owner after a minute.
 */
const QUIET_MS_MAX = 120_000;
const ANSWER_MS_MAX = 60_000;
const EVENTS_PER_PAGE = 100;

/** Posthorn processes on one database, a receiver, and destinations at the receiver. */
export class Scene {
  private readonly members = new Map<string, KeptProcess>();
  /** Ids of the destinations, in the order of the receiver's paths. */
  readonly destinations: string[] = [];
  private readonly openedAtMs = Date.now();

  private constructor(
    private readonly options: SceneOptions,
    readonly receiver: ReceiverProcess,
    readonly apiKey: string,
    /**
     * Measures how much slower this machine is than a quiet one. The checker multiplies its time limits by this factor.
     */
    readonly pace: Pace,
  ) {}

  /**
   * Opens a scene. Resolves once the processes in `start` (default: all) are up. The first of them creates the
   * destinations.
   */
  static async open(options: SceneOptions, start: readonly string[] = Object.keys(options.processes)): Promise<Scene> {
    const { seed, isCalm = false, paths = 0, flaky = [] } = options;
    const receiver = await ReceiverProcess.start({ seed, destinations: DESTINATIONS + paths, flaky, isCalm });
    const scene = new Scene(
      options,
      receiver,
      generateApiKey('live', randomBytes(32)),
      options.pace ?? (await Pace.start()),
    );
    try {
      await scene.staff();
      await Promise.all(start.map((name) => scene.member(name).start()));
      await scene.makeDestinations(scene.member(start[0] ?? ''));
      return scene;
    } catch (error) {
      throw new Error(`The scene could not be set: ${String(error)}\n${scene.logs()}`, { cause: error });
    }
  }

  member(name: string): KeptProcess {
    const member = this.members.get(name);
    if (!member) throw new Error(`There is no process ${name}.`);
    return member;
  }

  /** Returns a load that sends messages to the named processes. */
  load(apis: readonly string[], concurrency: number, options: Partial<LoadOptions> = {}): Load {
    const urls = apis.map((name) => this.member(name).url);
    return new Load({
      urls,
      apiKey: this.apiKey,
      destinations: this.destinations,
      seed: this.options.seed,
      concurrency,
      pace: () => this.pace.now(),
      ...options,
    });
  }

  /** Returns the address of the database, without a proxy. */
  databaseUrl(): string {
    const { databaseUrl } = this.options;
    return typeof databaseUrl === 'string' ? databaseUrl : databaseUrl();
  }

  /** Waits until all deliveries have ended. Returns false on a timeout. */
  settled(): Promise<boolean> {
    return eventually(
      () =>
        openDeliveries(this.databaseUrl()).then(
          (open) => open === 0,
          () => false,
        ),
      QUIET_MS_MAX * this.pace.since(this.openedAtMs),
      250,
    );
  }

  /** Returns the checker's report on everything observed so far. */
  async report(load: Load, disruptions: readonly Disruption[] = [], outages: readonly Outage[] = []): Promise<Report> {
    return check({
      sent: load.sent,
      arrivals: await this.arrivals(),
      disruptions,
      outages,
      pace: this.pace.since(this.openedAtMs),
    });
  }

  arrivals(): Promise<Arrival[]> {
    return this.receiver.record();
  }

  /** Returns the status of every event that the API lists, by message id. */
  async listed(api: string): Promise<Map<string, string>> {
    const statuses = new Map<string, string>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = (await this.call(api, 'GET', `/v1/events?limit=${EVENTS_PER_PAGE}${query}`)) as EventPage;
      for (const event of page.data) statuses.set(event.message_id, event.status);
      cursor = page.next_cursor;
    }
    return statuses;
  }

  /** Returns processes that exited without being killed. */
  crashes(): string[] {
    return [...this.members.values()].flatMap(({ crashes }) => crashes);
  }

  /** Returns data to debug a failed run: rows of lost messages, live processes and their last output. */
  async failureReport(report: Report): Promise<string> {
    const url = this.databaseUrl();
    const [open, workers] = await Promise.all([
      query(url, 'select * from due_deliveries order by due_at limit 10').catch(String),
      query(url, 'select *, now() from workers').catch(String),
    ]);
    const found = {
      lost: report.lost.slice(0, 5),
      unexplained: report.unexplainedTimes.slice(0, 20),
      crashes: this.crashes(),
      open,
      workers,
    };
    return `${JSON.stringify(found, null, 1)}\n${this.logs()}`;
  }

  /** Makes one API call and returns the body. Throws for every answer except 2xx. */
  async call(api: string, method: string, path: string, body?: unknown): Promise<unknown> {
    const headers = {
      authorization: `Bearer ${this.apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const response = await fetch(this.member(api).url + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  /** Tries a call at each process in turn until it succeeds, because the test kills processes. */
  async persistently(apis: readonly string[], call: (api: string) => Promise<unknown>): Promise<unknown> {
    let [answer, failure]: [unknown, unknown] = [undefined, undefined];
    let tries = 0;
    const isAnswered = await eventually(async () => {
      try {
        answer = await call(apis[tries % apis.length] as string);
        return true;
      } catch (error) {
        failure = error;
        tries += 1;
        return false;
      }
    }, ANSWER_MS_MAX);
    if (!isAnswered) throw new Error(`It was not answered: ${String(failure)}`);
    return answer;
  }

  async close(): Promise<void> {
    await Promise.all([...this.members.values()].map((member) => member.stop()));
    await this.receiver.stop();
    this.pace.stop();
  }

  private async staff(): Promise<void> {
    const shared: Env = {
      HOST: '127.0.0.1',
      ...(typeof this.options.databaseUrl === 'string' ? { DATABASE_URL: this.options.databaseUrl } : {}),
      MASTER_KEY: randomBytes(32).toString('base64'),
      BOOTSTRAP_API_KEY: this.apiKey,
      EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
      EGRESS_ALLOW_HTTP: 'true',
      RATE_LIMIT_KEY: 'off',
      RATE_LIMIT_ORG: 'off',
      LOG_LEVEL: 'warn',
      SHUTDOWN_GRACE: '0s',
      ...this.options.env,
    };
    for (const [name, env] of Object.entries(this.options.processes)) {
      this.members.set(name, new KeptProcess(name, await freePort(), { ...shared, ...env }));
    }
  }

  private async makeDestinations(api: KeptProcess): Promise<void> {
    for (const [i, secret] of this.receiver.secrets.slice(0, DESTINATIONS).entries()) {
      const body = { name: `Receiver ${i}`, type: 'https', url: this.receiver.url(i), secret, retry: RETRY };
      const { id } = (await this.call(api.name, 'POST', '/v1/destinations', body)) as { id: string };
      this.destinations.push(id);
    }
  }

  private logs(): string {
    return [...this.members.values()].map((member) => `--- ${member.name}\n${member.log().slice(-4_000)}`).join('\n');
  }
}

interface EventPage {
  data: { message_id: string; status: string }[];
  next_cursor: string | null;
}
