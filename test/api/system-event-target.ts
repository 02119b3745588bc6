import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import type { ReceivedRequest } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { until } from './polling.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, expectStatus, WITHIN_MS } from './scene.js';

export interface SystemEventPayload {
  type: string;
  timestamp: string;
  data: {
    count: number;
    first_at: string;
    last_at: string;
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each test asserts the fields that it reads
    items: Record<string, any>[];
    items_truncated: boolean;
  };
}

/** Destination and target of an environment's system events. */
export interface SystemEventTarget {
  destination: string;
  target: TargetPath;
  /** Returns the system events of a type received so far. The signature and the schema of each are verified. */
  received(type: string): SystemEventPayload[];
  /** Waits until the received events satisfy `isEnough`, and returns them. */
  waitFor(
    type: string,
    isEnough?: (payload: SystemEventPayload[]) => boolean,
    withinMs?: number,
  ): Promise<SystemEventPayload[]>;
}

export async function listen(server: PosthornServer, targets: Targets): Promise<SystemEventTarget> {
  const target = targets.open();
  const destination = await destinationAt(server, target.url, { name: 'Ops' });
  expectStatus(await server.api('PATCH', '/v1/org', { system_destination: destination }), 200);
  const { secret } = expectStatus(await server.api('GET', `/v1/destinations/${destination}/secret`), 200).json as {
    secret: string;
  };
  const check = await checkOf(server);
  const received = (type: string): SystemEventPayload[] =>
    target
      .posts()
      .map((post) => verified(post, secret, check))
      .filter((payload) => payload.type === type);
  return {
    destination,
    target,
    received,
    waitFor: (type, isEnough = (payload) => payload.length > 0, withinMs = WITHIN_MS) =>
      until(async () => received(type), isEnough, withinMs),
  };
}

/** Returns the sum of the counts of all events. */
export const countOf = (payload: readonly SystemEventPayload[]): number =>
  payload.reduce((sum, { data }) => sum + data.count, 0);

/** Ends the aggregation windows of all event types, so that the next system event of each type is sent at once. */
export async function endWindows(sql: Sql): Promise<void> {
  await sql.rows(`update system_tellings set opened_at = opened_at - interval '1 hour'`);
}

/** Ends the aggregation windows repeatedly until no system event waits for the end of its window. */
export async function flushSignals(sql: Sql): Promise<void> {
  const waiting = async (): Promise<unknown[]> => {
    await endWindows(sql);
    return sql.rows('select from system_signals');
  };
  await until(waiting, (rows) => rows.length === 0, WITHIN_MS);
}

function verified(
  { headers, rawBody }: ReceivedRequest,
  secret: string,
  check: (payload: SystemEventPayload) => void,
): SystemEventPayload {
  const payload = new Webhook(secret).verify(
    rawBody.toString(),
    headers as Record<string, string>,
  ) as SystemEventPayload;
  check(payload);
  return payload;
}

/** Returns a function that validates events against the schemas that the API publishes. */
async function checkOf(server: PosthornServer): Promise<(payload: SystemEventPayload) => void> {
  const { data } = expectStatus(await server.api('GET', '/v1/system-events'), 200).json;
  const ajv = new Ajv2020.Ajv2020({ allErrors: true, strictRequired: false });
  addFormats.default(ajv);
  const schemas = new Map(
    (data as { type: string; schema: object }[]).map(({ type, schema }) => [type, ajv.compile(schema)]),
  );
  return (payload) => {
    const validate = schemas.get(payload.type);
    if (!validate) throw new Error(`${payload.type} is not in the catalogue.`);
    if (!validate(payload.data))
      throw new Error(
        `${payload.type} breaks its schema: ${JSON.stringify(validate.errors)} ${JSON.stringify(payload.data)}`,
      );
    if (Object.keys(payload).join() !== 'type,timestamp,data')
      throw new Error(`${payload.type} is no Standard Webhooks payload.`);
  };
}
