import { createKey } from '../api/answers.js';
import { eventIn, expectStatus, send } from '../api/scene.js';
import { type NameServer, startNameServer } from '../support/name-server.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { fuzz, type Fuzzing, isSchemathesisInstalled } from '../support/schemathesis.js';
import { type PosthornServer, startServer } from '../support/server.js';
import type { OpenApi } from './openapi-document.js';

/**
 * Seed of the run. For longer runs by hand: `POSTHORN_FUZZ_SEED=7 POSTHORN_FUZZ_SECONDS=900 POSTHORN_FUZZ_SCOPE=admin
 * POSTHORN_FUZZ_PHASES=stateful`.
 */
const SEED = Number(process.env['POSTHORN_FUZZ_SEED'] ?? 11);
const SECONDS = Number(process.env['POSTHORN_FUZZ_SECONDS'] ?? 90);
const EXAMPLES = Number(process.env['POSTHORN_FUZZ_EXAMPLES'] ?? 8);
const SCOPE = process.env['POSTHORN_FUZZ_SCOPE'] ?? 'write';
const PHASES = process.env['POSTHORN_FUZZ_PHASES'] ?? 'examples,coverage,fuzzing';

const describeWithSchemathesis = isSchemathesisInstalled() ? describe : describe.skip;

describeWithSchemathesis('the service under random requests, valid and not', () => {
  let server: PosthornServer;
  let receiver: Receiver;
  let names: NameServer;

  beforeAll(async () => {
    // Generated host names must not resolve.
    [names, receiver] = await Promise.all([startNameServer(() => 'absent'), startReceiver(() => ({ status: 200 }))]);
    server = await startServer({
      DNS_SERVERS: names.address,
      RATE_LIMIT_KEY: '1000000/60',
      RATE_LIMIT_ORG: '1000000/60',
    });
  });

  afterAll(async () => {
    await server?.stop();
    await Promise.all([receiver?.close(), names?.close()]);
  });

  const made = async (path: string, body: object = {}, status = 201): Promise<Record<string, string>> =>
    expectStatus(await server.api('POST', path, body), status).json as Record<string, string>;

  /** Creates one resource of each type, with a history, and returns their ids. */
  async function seeded(): Promise<Fuzzing['known']> {
    const target =
      (await made('/v1/destinations', { name: 'Target', type: 'https', url: `${receiver.url}/ok` }))['id'] ?? '';
    const pull = (await made('/v1/destinations', { name: 'Pull', type: 'pull' }))['id'] ?? '';
    const endpoint = (await made('/v1/endpoints', { slug: 'fuzzed', destinations: [target, pull] }))['id'] ?? '';
    const { data: routes } = (await server.api('GET', `/v1/endpoints/${endpoint}/routes`)).json as {
      data: { id: string }[];
    };
    await made(`/v1/endpoints/${endpoint}/test`, {}, 200);
    const { data: requests } = (await server.api('GET', `/v1/endpoints/${endpoint}/requests`)).json as {
      data: { id: string; event_id: string }[];
    };
    const message = await send(server, target);
    const event = (await eventIn(server, message, 'delivered')).id as string;
    await made('/v1/app', { uid: 'customer' });
    const owned = (await made('/v1/app/customer/endpoints', { url: `${receiver.url}/ok`, uid: 'hook' }))['id'] ?? '';
    const fanOut =
      (await made('/v1/app/customer/event', { event_type: 'order.paid', payload: { a: 1 } }, 202))['message_id'] ?? '';
    await made('/v1/event-types', { name: 'order.paid', schema: { type: 'object' } });
    const secret = (await made('/v1/secrets', { name: 'TOKEN', value: 'a' }))['id'] ?? '';
    const template = (await made('/v1/templates', { name: 'Fuzzed', text: '{{name}}' }))['id'] ?? '';
    const job = (await made(`/v1/endpoints/${endpoint}/replay`, { since: '2026-01-01T00:00:00Z' }, 202))['id'] ?? '';
    const key = (await createKey(server, { name: 'Spare', scope: 'read' })).id;
    const [request] = requests;
    return [
      { paths: /^\/v1\/destinations\//, parameters: { id: [target, pull] } },
      {
        paths: /^\/v1\/endpoints\//,
        parameters: { id: [endpoint], routeId: routes.map(({ id }) => id), requestId: [request?.id ?? ''] },
      },
      { paths: /^\/v1\/events\//, parameters: { id: [event, message, fanOut, request?.event_id ?? ''] } },
      { paths: /^\/v1\/app\//, parameters: { app: ['customer'], endpoint: [owned, 'hook'], message: [fanOut] } },
      { paths: /^\/v1\/event-types\//, parameters: { name: ['order.paid'] } },
      { paths: /^\/v1\/secrets\//, parameters: { id: [secret] } },
      { paths: /^\/v1\/templates\//, parameters: { id: [template], version: ['1'] } },
      { paths: /^\/v1\/replays\//, parameters: { id: [job] } },
      { paths: /^\/v1\/pull\//, parameters: { endpoint: [pull, endpoint] } },
      { paths: /^\/v1\/keys\//, parameters: { id: [key] } },
    ];
  }

  it(
    `conforms to its OpenAPI document: no 5xx, no answer outside of its schema, no invalid request accepted (seed ${SEED})`,
    async () => {
      const known = await seeded();
      const document = (await server.api('GET', '/openapi.json')).json as OpenApi;
      const { key: apiKey } = await createKey(server, { name: 'Fuzz', scope: SCOPE });

      const { status, report } = await fuzz(server, {
        seed: SEED,
        secondsMax: SECONDS,
        phases: PHASES,
        examplesMax: EXAMPLES,
        apiKey,
        known,
        paths: Object.keys(document.paths),
      });

      if (status !== 0) process.stdout.write(report);
      expect(status).toBe(0);
      expect(report).toMatch(/Test cases:\s+[\d,]+/i);
    },
    (SECONDS + 120) * 1000,
  );
});
