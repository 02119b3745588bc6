import { randomUUID } from 'node:crypto';
import pg from 'pg';
// Not kernel/ids.js, which would load Nest into every suite.
import { decodeUlid } from '../../src/kernel/ulid.js';
import type { Answer, ReceivedRequest, Receiver } from '../support/receiver.js';
import { startReceiver } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until } from './polling.js';

/** Long enough for two cores that several suites share; nothing waits longer than it has to. */
export const WITHIN_MS = 20_000;

/** Decides on one POST; `index` counts those of the same path from 0. */
export type AnswerPost = (post: ReceivedRequest, index: number) => Answer | Promise<Answer>;

/** One path of a receiver: a target of its own. */
export interface TargetPath {
  readonly url: string;
  /** Deliveries so far: the probe of a destination's creation is no POST. */
  posts(): ReceivedRequest[];
  /** From the next delivery on. */
  answerBy(answer: AnswerPost): void;
  /** Resolves once `count` deliveries have arrived. */
  arrived(count: number, withinMs?: number): Promise<ReceivedRequest[]>;
}

/** Any number of targets behind one port. */
export interface Targets {
  readonly receiver: Receiver;
  /** A target on a path that nobody else has; it answers 200 unless told otherwise. */
  open(answer?: AnswerPost): TargetPath;
  close(): Promise<void>;
}

export async function startTargets(): Promise<Targets> {
  const answers = new Map<string, AnswerPost>();
  const posts = new Map<string, ReceivedRequest[]>();
  const receiver = await startReceiver((request) => {
    if (request.method !== 'POST') return {};
    const known = posts.get(request.path);
    if (!known) return { status: 404 };
    return answers.get(request.path)?.(request, known.push(request) - 1) ?? {};
  });
  return {
    receiver,
    open(answer = () => ({})) {
      const path = `/${randomUUID()}`;
      answers.set(path, answer);
      posts.set(path, []);
      const own = (): ReceivedRequest[] => posts.get(path) ?? [];
      return {
        url: receiver.url + path,
        posts: own,
        answerBy: (next) => void answers.set(path, next),
        arrived: async (count, withinMs = WITHIN_MS) => {
          await until(
            async () => own().length,
            (arrived) => arrived >= count,
            withinMs,
          );
          return own();
        },
      };
    },
    close: () => receiver.close(),
  };
}

/** The suite's own database: what a test looks at, and how it moves time. */
export interface Sql {
  rows<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
  close(): Promise<void>;
}

export function openSql({ databaseUrl }: Pick<PosthornServer, 'databaseUrl'>): Sql {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  pool.on('error', () => undefined);
  return {
    rows: async <R>(text: string, values: unknown[] = []) => (await pool.query(text, values)).rows as R[],
    close: () => pool.end(),
  };
}

/** A transaction that has written and stays open; the end of its connection rolls it back. */
export async function beginWriting(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('select pg_current_xact_id()');
  return client;
}

/** The same in another database of the server that the tests share. */
export const beginElsewhere = (): Promise<pg.Client> =>
  beginWriting((process.env['POSTHORN_TEST_PG'] ?? '').replace(/[^/]+$/, 'postgres'));

/** The uuid that a wire id stands for. */
export function uuidOf(wireId: string): string {
  const bytes = decodeUlid(wireId.slice(wireId.indexOf('_') + 1));
  if (bytes === null) throw new Error(`${wireId} is no id.`);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Fails with what the API said instead. */
export function expectStatus(apiAnswer: ApiAnswer, status: number): ApiAnswer {
  if (apiAnswer.status !== status) throw new Error(`Expected ${status}, got ${apiAnswer.status}: ${apiAnswer.text}`);
  return apiAnswer;
}

/** Makes an https destination and returns its id. */
export async function destinationAt(server: PosthornServer, url: string, settings: object = {}): Promise<string> {
  const answer = await server.api('POST', '/v1/destinations', { name: 'A target', type: 'https', url, ...settings });
  return expectStatus(answer, 201).json.id as string;
}

/** What never comes back by itself during a test, and never opens the circuit. */
export const PATIENT = {
  retry: { schedule: [0, 3600, 3600] },
  config: { circuit_breaker: { failure_threshold: 1000 } },
};

/** Sends and returns the message's id. */
export async function send(server: PosthornServer, destination: string, fields: object = {}): Promise<string> {
  const body = { destination, event_type: 'test.sent', payload: { hello: 'world' }, ...fields };
  return expectStatus(await server.api('POST', '/v1/send', body), 202).json.message_id as string;
}

/** Sends many, a few at a time. */
export async function sendMany(server: PosthornServer, destination: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  let started = 0;
  const sender = async (): Promise<void> => {
    while (started < count) {
      started += 1;
      ids.push(await send(server, destination));
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, 32) }, sender));
  return ids;
}

/** The event of a message, in full. */
export async function eventOf(server: PosthornServer, messageId: string): Promise<ApiAnswer['json']> {
  return expectStatus(await server.api('GET', `/v1/events/${messageId}`), 200).json;
}

/** The event of a message as soon as it is in a state. */
export async function eventIn(
  server: PosthornServer,
  messageId: string,
  status: string,
  withinMs = WITHIN_MS,
): Promise<ApiAnswer['json']> {
  return until(
    () => eventOf(server, messageId),
    (event) => event.status === status,
    withinMs,
  );
}

/** The event of a message as soon as it has so many attempts. */
export async function eventAfter(
  server: PosthornServer,
  messageId: string,
  attempts: number,
): Promise<ApiAnswer['json']> {
  return until(
    () => eventOf(server, messageId),
    (event) => event.attempts.length >= attempts,
    WITHIN_MS,
  );
}

/** Moves the time of a delivery's next attempt to now. */
export async function makeDue(sql: Sql, messageId: string): Promise<void> {
  await sql.rows('update due_deliveries set due_at = now() where event_id = $1 and claimed_by is null', [
    uuidOf(messageId),
  ]);
}

/** Takes a destination away as one that was deleted before whoever sends to it could be asked. */
export async function removeRow(sql: Sql, destination: string): Promise<void> {
  const [row] = await sql.rows<{ environment_id: number }>(
    'delete from destinations where id = $1 returning environment_id',
    [uuidOf(destination)],
  );
  await sql.rows(`select pg_notify('posthorn', $1)`, [`destination:${row?.environment_id}:${uuidOf(destination)}`]);
}
