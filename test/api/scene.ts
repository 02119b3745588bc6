import { randomUUID } from 'node:crypto';
import pg from 'pg';
// Not imported from kernel/ids.js, which would load Nest into every suite.
import { decodeUlid } from '../../src/kernel/ulid.js';
import type { Answer, ReceivedRequest, Receiver } from '../support/receiver.js';
import { startReceiver } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { until, WITHIN_MS } from './polling.js';

export { WITHIN_MS };

/** Returns the answer to one POST. `index` counts the POSTs on the same path from 0. */
export type AnswerPost = (post: ReceivedRequest, index: number) => Answer | Promise<Answer>;

/** One path of a receiver, used as a separate target. */
export interface TargetPath {
  readonly url: string;
  /** Returns the deliveries so far. Excludes the probe at the creation of a destination, which is not a POST. */
  posts(): ReceivedRequest[];
  /** Sets the answer from the next delivery on. */
  answerBy(answer: AnswerPost): void;
  arrived(count: number, withinMs?: number): Promise<ReceivedRequest[]>;
}

/** Any number of targets on one port. */
export interface Targets {
  readonly receiver: Receiver;
  /** Opens and returns a target on a unique path. It answers 200 by default. */
  open(answer?: AnswerPost): TargetPath;
  close(): Promise<void>;
}

export async function startTargets(): Promise<Targets> {
  const answers = new Map<string, AnswerPost>();
  const posts = new Map<string, ReceivedRequest[]>();
  const receiver = await startReceiver((request) => {
    if (request.method !== 'POST') return {};
    // Ignores the query, because a delivery of a received request has the query of that request.
    const [path = ''] = request.path.split('?', 1);
    const known = posts.get(path);
    if (!known) return { status: 404 };
    return answers.get(path)?.(request, known.push(request) - 1) ?? {};
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

/** SQL access to the suite's database, to inspect rows and to move stored times. */
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

/** Begins a transaction, writes, and returns the connection. The transaction stays open until the connection ends. */
export async function beginWriting(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query('select pg_current_xact_id()');
  return client;
}

/** Begins a writing transaction in another database of the tests' PostgreSQL server, and returns its connection. */
export const beginElsewhere = (): Promise<pg.Client> =>
  beginWriting((process.env['POSTHORN_TEST_PG'] ?? '').replace(/[^/]+$/, 'postgres'));

/** Returns the UUID for an API id. */
export function uuidOf(wireId: string): string {
  const bytes = decodeUlid(wireId.slice(wireId.indexOf('_') + 1));
  if (bytes === null) throw new Error(`${wireId} is no id.`);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Throws an error with the answer's body if the status is not the expected one. */
export function expectStatus(apiAnswer: ApiAnswer, status: number): ApiAnswer {
  if (apiAnswer.status !== status) throw new Error(`Expected ${status}, got ${apiAnswer.status}: ${apiAnswer.text}`);
  return apiAnswer;
}

export async function destinationAt(server: PosthornServer, url: string, settings: object = {}): Promise<string> {
  const answer = await server.api('POST', '/v1/destinations', { name: 'A target', type: 'https', url, ...settings });
  return expectStatus(answer, 201).json.id as string;
}

/** Settings under which no retry happens during a test and the circuit never opens. */
export const RARE_RETRIES = {
  retry: { schedule: [0, 3600, 3600] },
  config: { circuit_breaker: { failure_threshold: 1000 } },
};

export async function send(server: PosthornServer, destination: string, fields: object = {}): Promise<string> {
  const body = { destination, event_type: 'test.sent', payload: { hello: 'world' }, ...fields };
  return expectStatus(await server.api('POST', '/v1/send', body), 202).json.message_id as string;
}

/** Sends many messages, a few concurrently, and returns their ids. */
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

export async function eventOf(server: PosthornServer, messageId: string): Promise<ApiAnswer['json']> {
  return expectStatus(await server.api('GET', `/v1/events/${messageId}`), 200).json;
}

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

/** Makes the next attempt of a delivery due now. Waits while a worker still holds the delivery. */
export async function makeDue(sql: Sql, messageId: string): Promise<void> {
  await until(
    () =>
      sql.rows('update due_deliveries set due_at = now() where event_id = $1 and claimed_by is null returning 1', [
        uuidOf(messageId),
      ]),
    (rows) => rows.length > 0,
    WITHIN_MS,
  );
}

/** Deletes the row of a destination directly, without the API's check whether something still uses the destination. */
export async function removeRow(sql: Sql, destination: string): Promise<void> {
  const [row] = await sql.rows<{ environment_id: number }>(
    'delete from destinations where id = $1 returning environment_id',
    [uuidOf(destination)],
  );
  await sql.rows(`select pg_notify('posthorn', $1)`, [`destination:${row?.environment_id}:${uuidOf(destination)}`]);
}
