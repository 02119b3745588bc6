import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidOf } from '../../api/scene.js';
import { isRedisInstalled } from '../../support/optional-tools.js';
import { Pace } from '../../support/pace.js';
import type { Load } from '../load.js';
import { eventually, freePort, type KeptProcess } from '../processes.js';
import type { Misbehaviour, Received } from '../receiver.js';
import { ForgetfulRedis } from '../redis.js';
import { DESTINATIONS, RETRY, Scene } from '../scene.js';
import { query } from '../storage.js';
import { Balancer } from './balancer.js';
import { ProcessClock } from './clocks.js';
import {
  type FleetDatabase,
  OwnDatabase,
  pairedDatabase,
  plainDatabase,
  smallDatabase,
  stopWithDatabase,
} from './database.js';
import { MailTraffic } from './mail-traffic.js';
import { NameServer } from './name-server.js';
import { SmallDisk } from './small-disk.js';
import { Wire } from './wire.js';

/**
 * The fleets under test: separate `api` and `worker` processes, `all` processes with mail, or one `all` process with
 * embedded PostgreSQL.
 */
export const FLEETS = ['postgres', 'redis', 'small disk', 'standby', 'embedded', 'mail'] as const;
export type FleetKind = (typeof FLEETS)[number];

/** Kinds of misbehavior of a receiver. Each kind has its own receiver, numbered after the normal receivers. */
const MISBEHAVIOURS: readonly Misbehaviour[] = ['hang', 'trickle', 'flap', 'reset'];
/** Number of the receiver to which messages are sent by a URL with a host name, instead of by a destination. */
const NAMED = DESTINATIONS + MISBEHAVIOURS.length;
const PATHS = MISBEHAVIOURS.length + 1;
const SILENT_NAMES = 20;
/** Time limit for a circuit to close. It is probed after half a minute, and again a minute later. */
const CIRCUIT_CLOSED_MS_MAX = 180_000;
const BURST = 300;
const BURST_LANES = 24;
const BURST_MS_MAX = 5_000;
const SHARED = { LOG_LEVEL: 'warn', SHUTDOWN_GRACE: '5s' };
/** Time limit for a drain, longer than any drain on a quiet machine. Exiting with unfinished work is a failure. */
const DRAIN_SECONDS = 30;

/** Returns whether this machine can run a fleet of this kind. Logs the reason if not. */
export function isPossible(kind: FleetKind): boolean {
  if (kind === 'redis') return isRedisInstalled();
  if (kind !== 'small disk' || SmallDisk.isPossible()) return true;
  process.stdout.write(
    'nemesis: the full disk is SKIPPED, this machine lets nobody mount a small one (root and CAP_SYS_ADMIN would do).\n',
  );
  return false;
}

/** Posthorn processes, everything around them that can be broken, and the receivers. */
export class Fleet {
  readonly apis: readonly KeptProcess[];
  readonly workers: readonly KeptProcess[];
  readonly balancer: Balancer;
  /** All requests that arrived so far. */
  readonly arrivals: Received[] = [];
  /**
   * Messages to misbehaving receivers. Only the end of the run waits for them, because they arrive after the circuits
   * close.
   */
  readonly delayedLoads: Load[] = [];
  /** Extra messages to normal receivers, in addition to the load of this round. */
  bursts: Load[] = [];
  private broken: Promise<string[]> | null = null;
  private silences = 0;

  private constructor(
    readonly kind: FleetKind,
    readonly scene: Scene,
    readonly database: FleetDatabase,
    readonly wires: ReadonlyMap<string, Wire>,
    readonly clocks: ReadonlyMap<string, ProcessClock>,
    readonly names: NameServer,
    readonly redis: { server: ForgetfulRedis; wire: Wire } | null,
    /** Mail traffic of the fleet; null if the fleet has no mail. */
    readonly mail: MailTraffic | null,
  ) {
    const members = [...clocks.keys()].map((name) => scene.member(name));
    this.apis = members.filter(({ name }) => !name.startsWith('worker'));
    this.workers = members.filter(({ name }) => !name.startsWith('api'));
    this.balancer = new Balancer(this.apis.map(({ url }) => url));
  }

  static async open(kind: FleetKind, seed: number): Promise<Fleet> {
    const directory = mkdtempSync(path.join(process.env['POSTHORN_TEST_DIR'] ?? tmpdir(), 'clocks-'));
    const database = await databaseOf(kind);
    const names = await NameServer.start();
    const redis = kind === 'redis' ? await redisWithWire() : null;
    const clocks = new Map<string, ProcessClock>();
    const wires = new Map<string, Wire>();
    const processes: Record<string, Record<string, string>> = {};
    const mail = kind === 'mail' ? await MailTraffic.open([await freePort(), await freePort()]) : null;
    for (const [place, name] of namesOf(kind).entries()) {
      const clock = new ProcessClock(directory, name);
      clocks.set(name, clock);
      processes[name] = { ROLE: name.split('-')[0] ?? '', ...clock.env, ...mail?.env(place) };
      if (database instanceof OwnDatabase) Object.assign(processes[name], { DATA_DIR: database.dataDir });
      else {
        const wire = await Wire.to(Number(new URL(database.url()).port));
        wires.set(name, wire);
        Object.assign(processes[name], { DATABASE_URL: wire.in(database.url()) });
      }
    }
    const pace = await Pace.start();
    const env = {
      ...SHARED,
      SHUTDOWN_TIMEOUT: `${Math.ceil(DRAIN_SECONDS * pace.now())}s`,
      DNS_SERVERS: names.address,
      ...(redis ? { REDIS_URL: redis.wire.in(redis.server.url) } : {}),
    };
    const scene = await Scene.open({ seed, databaseUrl: () => database.url(), processes, env, paths: PATHS, pace });
    database.note?.();
    await mail?.settle(scene, namesOf(kind));
    return new Fleet(kind, scene, database, wires, clocks, names, redis, mail);
  }

  /** Makes waiting retries due now, because the default retry schedule takes hours. */
  async hurry(): Promise<void> {
    await query(
      this.database.url(),
      'update due_deliveries set due_at = now() where claimed_by is null and not parked and due_at > now()',
    );
  }

  /** Returns the states of up to 20 of the messages, one line each, to debug why the messages did not arrive. */
  waiting(messageIds: readonly string[]): Promise<string[]> {
    const state = `select to_jsonb(d) - 'payload' || jsonb_build_object('now', now(), 'circuit', to_jsonb(c)) as open,
                     (select jsonb_agg(to_jsonb(a)) from attempts a where a.event_id = $1) as attempts
                   from (select $1::uuid as event_id) m left join due_deliveries d using (event_id) left join circuits c using (environment_id, target_id)`;
    return Promise.all(
      messageIds
        .slice(0, 20)
        .map(
          async (messageId) =>
            `${messageId} ${JSON.stringify(await query(this.database.url(), state, [uuidOf(messageId)]))}`,
        ),
    );
  }

  /** All processes, without duplicates. */
  get members(): readonly KeptProcess[] {
    return [...new Set([...this.apis, ...this.workers])];
  }

  /** Returns a load of a few hundred messages per second that uses only ready nodes. */
  load(concurrency: number, pauseMs: number, destinations?: readonly string[]): Load {
    const options = { pauseMs, ready: () => this.balancer.ready(), ...(destinations ? { destinations } : {}) };
    return this.scene.load(
      this.apis.map(({ name }) => name),
      concurrency,
      options,
    );
  }

  /**
   * Makes the workers wait for hundreds of answers from one slow receiver. Resolves when the service has accepted
   * most of the messages.
   */
  async burst(): Promise<void> {
    const number = DESTINATIONS - 1;
    await this.scene.receiver.misbehave(number, 'slow');
    const load = this.scene.load(
      this.apis.map(({ name }) => name),
      BURST_LANES,
      { ready: () => this.balancer.ready(), destinations: this.scene.destinations.slice(-1) },
    );
    this.bursts.push(load);
    load.start();
    await Promise.race([load.reached(BURST), load.ended(), sleep(BURST_MS_MAX, undefined, { ref: false })]);
    void load.stop();
    await this.scene.receiver.misbehave(number, null);
  }

  /** Returns the destination whose receiver can misbehave in this way. */
  async misbehaving(how: Misbehaviour): Promise<{ number: number; id: string }> {
    const [index, ids] = [MISBEHAVIOURS.indexOf(how), await (this.broken ??= this.makeMisbehaving())];
    return { number: DESTINATIONS + index, id: ids[index] as string };
  }

  /** Waits until the circuit of this destination is closed. An open circuit blocks deliveries. */
  async circuitClosed(id: string): Promise<void> {
    const open = `select count(*)::int as count from circuits where target_id = $1 and state <> 'closed'`;
    // This query fails while PostgreSQL is stopped by another fault. The failure counts as "not closed yet".
    const isClosed = async (): Promise<boolean> => {
      await this.hurry();
      const [row] = await query<{ count: number }>(this.database.url(), open, [uuidOf(id)]);
      return row?.count === 0;
    };
    await eventually(() => isClosed().catch(() => false), CIRCUIT_CLOSED_MS_MAX, 1_000);
  }

  /** Returns a URL with a name that the name server resolves. */
  named(): string {
    return this.scene.receiver.url(NAMED).replace('127.0.0.1', 'named.test');
  }

  /**
   * Returns URLs with host names that never get a DNS answer. Each call uses new names, because names behind an open
   * circuit are not resolved.
   */
  silentlyNamed(): string[] {
    const turn = this.silences++;
    return Array.from({ length: SILENT_NAMES }, (_, i) => `http://n${i}-${turn}.silent.test:8443/`);
  }

  /** Returns the requests that have arrived since the last call. */
  async collect(): Promise<readonly Received[]> {
    const arrived = await this.scene.receiver.take();
    this.arrivals.push(...arrived);
    return arrived;
  }

  /** Waits until no delivery to the normal receivers is pending. Returns false on a timeout. */
  settled(withinMs: number): Promise<boolean> {
    const open = `select count(*)::int as count from due_deliveries join destinations on destinations.id = due_deliveries.target_id
                  where destinations.name like 'Receiver %'`;
    const isSettled = (): Promise<boolean> =>
      query<{ count: number }>(this.database.url(), open).then(
        ([row]) => row?.count === 0,
        () => false,
      );
    return eventually(isSettled, withinMs, 250);
  }

  async close(): Promise<void> {
    this.balancer.stop();
    for (const load of [...this.delayedLoads, ...this.bursts]) load.abandon();
    if (this.kind === 'embedded') await stopWithDatabase(this.scene.member('all'));
    this.mail?.abandon();
    await this.scene.close();
    await this.mail?.close();
    await Promise.all([...this.wires.values()].map((wire) => wire.close()));
    await this.redis?.wire.close();
    await this.redis?.server.stop();
    this.names.close();
    await this.database.stop();
  }

  private async makeMisbehaving(): Promise<string[]> {
    const { receiver } = this.scene;
    const apis = this.apis.map(({ name }) => name);
    const ids: string[] = [];
    for (const [i, how] of MISBEHAVIOURS.entries()) {
      const number = DESTINATIONS + i;
      const body = {
        name: `Misbehaving: ${how}`,
        type: 'https',
        url: receiver.url(number),
        secret: receiver.secrets[number],
        retry: RETRY,
        timeout_ms: 2_000,
      };
      const made = await this.scene.persistently(apis, (api) => this.scene.call(api, 'POST', '/v1/destinations', body));
      ids.push((made as { id: string }).id);
    }
    return ids;
  }
}

function namesOf(kind: FleetKind): string[] {
  if (kind === 'embedded') return ['all'];
  return kind === 'mail' ? ['all-1', 'all-2'] : ['api-1', 'api-2', 'worker-1', 'worker-2'];
}

function databaseOf(kind: FleetKind): Promise<FleetDatabase> | FleetDatabase {
  switch (kind) {
    case 'embedded':
      return new OwnDatabase();
    case 'small disk':
      return smallDatabase();
    case 'standby':
      return pairedDatabase();
    case 'postgres':
    case 'redis':
    case 'mail':
      return plainDatabase();
  }
}

async function redisWithWire(): Promise<{ server: ForgetfulRedis; wire: Wire }> {
  const server = await ForgetfulRedis.start();
  return { server, wire: await Wire.to(server.port) };
}
