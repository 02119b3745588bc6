import { as, createKey, expectRefusal } from '../api/answers.js';
import {
  destinationAt,
  eventAfter,
  expectStatus,
  send,
  startTargets,
  type TargetPath,
  type Targets,
} from '../api/scene.js';
import { type NameAnswer, type NameServer, startNameServer } from '../support/name-server.js';
import { type PosthornServer, startServer } from '../support/server.js';

const SLOW = 90;

describe('names', () => {
  let names: NameServer;
  let server: PosthornServer;
  let targets: Targets;
  let zone: Record<string, NameAnswer>;

  beforeAll(async () => {
    zone = {
      'hooks.example.com': { addresses: ['127.0.0.1'], ttlSeconds: 1 },
      'broken.example.com': 'fails',
      'inside.example.com': { addresses: ['10.1.2.3'] },
    };
    names = await startNameServer((name) =>
      name.endsWith('.slow.example') || name.endsWith('.mute.example') ? 'silent' : (zone[name] ?? 'absent'),
    );
    [server, targets] = await Promise.all([startServer({ DNS_SERVERS: names.address }), startTargets()]);
  });

  afterAll(async () => {
    await Promise.all([server?.stop(), targets?.close()]);
    await names?.close();
  });

  const named = (target: TargetPath, name: string): string => target.url.replace('127.0.0.1', name);

  const sendTo = async (url: string, headers = {}): Promise<string> =>
    expectStatus(
      await server.api('POST', '/v1/send', { destination: url, event_type: 'test.sent', payload: {} }, headers),
      202,
    ).json.message_id as string;

  it('whose servers never answer end as failed attempts, while deliveries of another environment to names continue', async () => {
    const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
    const target = targets.open();
    const destination = await destinationAt(server, named(target, 'hooks.example.com'));
    const urls = Array.from(
      { length: SLOW },
      (_each, n) => `http://n${n}.${n % 2 === 0 ? 'slow' : 'mute'}.example:8080/`,
    );
    const slow = await Promise.all(urls.map((url) => sendTo(url, as(key))));

    for (let sent = 1; sent <= 20; sent += 1) {
      await send(server, destination);
      await target.arrived(sent);
    }
    const checked = await server.api('POST', '/v1/destinations/check', {
      type: 'https',
      url: named(target, 'hooks.example.com'),
    });

    expect(checked).toMatchObject({ status: 200, json: { ok: true } });
    expect((await server.api('GET', '/health/ready')).status).toBe(200);
    const ofTest = { ...server, api: (method: string, path: string) => server.api(method, path, undefined, as(key)) };
    for (const id of slow) {
      const { attempts } = await eventAfter(ofTest, id, 1);
      expect(attempts[0]).toMatchObject({
        status: null,
        error: 'dns',
        response_excerpt: expect.stringContaining('did not answer in time (ETIMEOUT)'),
      });
    }
  });

  it.each([
    ['whose servers never answer', 'one.slow.example', /did not answer in time/],
    ['that is absent', 'nobody.example.com', /no such name/],
    ['whose servers fail', 'broken.example.com', /name servers failed/],
    ['that resolves into a private network', 'inside.example.com', /private network/],
  ])(
    '422: a destination with a name %s is not created, and the answer gives the reason',
    async (_what, name, reason) => {
      const url = `http://${name}:8080/`;

      const [created, checked] = await Promise.all([
        server.api('POST', '/v1/destinations', { name: 'A target', type: 'https', url }),
        server.api('POST', '/v1/destinations/check', { type: 'https', url }),
      ]);

      expectRefusal(created, 422);
      expect(created.json.error.message).toMatch(reason);
      expect(checked).toMatchObject({ status: 200, json: { ok: false, detail: expect.stringMatching(reason) } });
    },
  );

  it('that move into a private network are rejected at the next connect', async () => {
    const target = targets.open();
    zone['moving.example.com'] = { addresses: ['127.0.0.1'], ttlSeconds: 1 };
    const destination = await destinationAt(server, named(target, 'moving.example.com'));
    zone['moving.example.com'] = { addresses: ['10.1.2.3'], ttlSeconds: 1 };
    // Closes each connection, because a keep-alive connection would continue to use the address that was checked.
    target.answerBy(() => ({ headers: { connection: 'close' } }));

    await expect(refusedAttempt(destination)).resolves.toMatchObject({
      error: 'blocked',
      response_excerpt: expect.stringContaining('private network'),
    });
  });

  /**
   * Sends messages until an attempt is rejected, and returns this attempt. Earlier attempts may use the old address.
   */
  async function refusedAttempt(destination: string): Promise<unknown> {
    for (;;) {
      const { attempts } = await eventAfter(server, await send(server, destination), 1);
      if (attempts[0].error !== null) return attempts[0];
    }
  }
});
