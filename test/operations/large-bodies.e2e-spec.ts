import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { newOrganization, OPERATOR_KEY } from '../api/answers.js';
import { inbound, provide, requestsOf } from '../api/receiving.js';
import { expectStatus } from '../api/scene.js';
import { type PosthornServer, startServer } from '../support/server.js';

const MEGABYTE = 1024 * 1024;
const MAX = 25 * MEGABYTE;
const SENDERS = 12;
const ROUNDS = 2;

describe('a flood of large bodies', () => {
  let server: PosthornServer;

  beforeAll(async () => {
    server = await startServer({ OPERATOR_KEY });
  });

  afterAll(async () => {
    await server?.stop();
  });

  it('holds the memory, rejects with 503 what does not fit, and does not stop another tenant', async () => {
    const endpoint = await inbound(server, { max_body_bytes: MAX });
    const neighbour = expectStatus(
      await server.api(
        'POST',
        '/v1/endpoints',
        { slug: 'neighbour', max_body_bytes: MAX },
        await newOrganization(server),
      ),
      201,
    ).json as { path: string };
    const body = Buffer.alloc(MAX, 'é');
    const resident = (field: string): number =>
      Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) * 1024;
    await provide(server, endpoint.at, { body });
    const before = resident('VmRSS');
    // Resets VmHWM, the peak resident memory.
    writeFileSync(`/proc/${server.pid}/clear_refs`, '5');

    let isFlooding = true;
    const flood = Promise.all(
      Array.from({ length: SENDERS }, async () => {
        const statuses: number[] = [];
        for (let round = 0; round < ROUNDS; round += 1)
          statuses.push((await provide(server, endpoint.at, { body })).status);
        return statuses;
      }),
    ).finally(() => (isFlooding = false));
    const small: number[] = [];
    const [large] = await Promise.all([
      pause(100).then(() => provide(server, `/in/${neighbour.path}`, { body })),
      (async () => {
        while (isFlooding) small.push((await provide(server, `/in/${neighbour.path}`, { body: '{}' })).status);
      })(),
    ]);
    const statuses = (await flood).flat();

    const accepted = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(accepted).toBeGreaterThanOrEqual(2);
    expect(large.status).toBe(200);
    expect(new Set(small)).toEqual(new Set([200]));
    const requests = await requestsOf(server, endpoint);
    expect(requests.map(({ size_bytes: size }) => size as number)).toEqual(Array(accepted + 1).fill(MAX));
    expect((resident('VmHWM') - before) / MEGABYTE).toBeLessThan(300);
  }, 180_000);
});
