import { networkInterfaces } from 'node:os';
import type { HostileUrl } from '../support/hostile-urls.js';
import { HOSTILE_URLS } from '../support/hostile-urls.js';
import type { RawReceiver } from '../support/raw-receiver.js';
import { rawReceiver } from '../support/raw-receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { eventAfter } from './scene.js';

/** Maximum URL length in the schema. The schema check, which is the first check, rejects longer URLs. */
const URL_LENGTH_MAX = 2048;

/** Spellings of the loopback address. The test adds the port of a listener that records connections. */
const LOOPBACK_HOSTS = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '0',
  '0.0.0.0',
  '127.127.127.127',
  'localhost',
  'LOCALHOST.',
  'a.localhost',
  'localhost.localdomain',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
];

class Hostile {
  constructor(private readonly server: PosthornServer) {}

  create(url: string): Promise<ApiAnswer> {
    return this.server.api('POST', '/v1/destinations', { name: 'Hostile', type: 'https', url });
  }

  check(url: string): Promise<ApiAnswer> {
    return this.server.api('POST', '/v1/destinations/check', { type: 'https', url });
  }

  send(destination: string): Promise<ApiAnswer> {
    return this.server.api('POST', '/v1/send', { destination, event_type: 'hostile', payload: {} });
  }
}

describe('SSRF', () => {
  let canary: RawReceiver;

  beforeAll(async () => {
    canary = await rawReceiver();
  });

  afterAll(() => canary.close());

  describe('with no network allowed', () => {
    let server: PosthornServer;
    let hostile: Hostile;

    beforeAll(async () => {
      // The server allows plain http, so the scheme cannot be the reason for a rejection.
      server = await startServer({ EGRESS_ALLOW_CIDRS: '', EGRESS_ALLOW_HTTP: 'true' });
      hostile = new Hostile(server);
    });

    afterAll(() => server.stop());

    /** Expects that create, check and send reject the URL without revealing a resolved address. */
    async function expectRefused({ url, resolvesTo }: Pick<HostileUrl, 'url' | 'resolvesTo'>): Promise<void> {
      const [created, checked] = await Promise.all([hostile.create(url), hostile.check(url)]);
      expectRefusal(created, 422);
      if (url.length > URL_LENGTH_MAX) expectRefusal(checked, 422);
      else expect(checked).toMatchObject({ status: 200, json: { ok: false, detail: expect.stringMatching(/\S/) } });
      if (resolvesTo !== undefined) return;
      const sent = await hostile.send(url);
      expectRefusal(sent, 422);
      const { message, details } = sent.json.error;
      expect(details.fields).toEqual([{ path: 'destination', message: expect.any(String) }]);
      expect(details.check).toMatch(/^(schema|connectivity)$/);
      if (details.check === 'connectivity') expect(message).toBe(details.fields[0].message);
    }

    it.each([
      'http://127.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://10.0.0.1/',
      'http://localhost/',
      'https://example.com:22/',
    ])(
      '422: a rejection by the egress gate is reported by the connectivity check, with its explanation: %s',
      async (url) => {
        for (const answer of [
          await hostile.create(url),
          await hostile.send(url),
          await server.api('POST', '/v1/destinations', { name: 'Hostile', type: 'mirror', url }),
        ]) {
          expect(expectInvalid(answer, 'connectivity')).toHaveLength(1);
          expect(answer.json.error.message).toMatch(/^[A-Z"].*\.$/);
        }
      },
    );

    it('the list contains at least sixty URLs', () => {
      expect(HOSTILE_URLS.length).toBeGreaterThanOrEqual(60);
    });

    it.each(
      HOSTILE_URLS.map((hostileUrl): [string, string, HostileUrl] => [
        hostileUrl.why,
        hostileUrl.url.slice(0, 80),
        hostileUrl,
      ]),
    )('a blocked address is refused on create, check and send: %s (%j)', async (_why, _url, hostileUrl) => {
      await expectRefused(hostileUrl);
    });

    it('a listener on this host gets no connection, for any spelling of its address', async () => {
      const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
      const hosts = [
        ...LOOPBACK_HOSTS,
        ...own.map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address)),
      ];

      for (const scheme of ['http', 'https']) {
        for (const host of hosts) await expectRefused({ url: `${scheme}://${host}:${canary.port}/` });
      }

      expect(canary.connections).toBe(0);
    });

    it('a URL that another node accepted is checked and refused at every connect', async () => {
      const open = await startServer({ ...server.env, ROLE: 'api', EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });
      const { json } = await open.api('POST', '/v1/destinations', {
        name: 'Let through',
        type: 'https',
        url: `http://127.0.0.1:${canary.port}/`,
      });
      const probes = canary.connections;

      const sent = await open.api('POST', '/v1/send', { destination: json.id, event_type: 'let.through', payload: {} });

      const event = await eventAfter(server, sent.json.message_id, 1);
      expect(event.attempts[0]).toMatchObject({
        status: null,
        error: 'blocked',
        response_excerpt: expect.stringMatching(/loopback/),
      });
      const validated = await server.api('POST', `/v1/destinations/${json.id}/validate`);
      expect(validated.json).toMatchObject({ validation: 'invalid', checks: { connectivity: false } });
      expect(probes).toBe(1);
      expect(canary.connections).toBe(probes);
      await open.stop();
    });

    it('422: PATCH cannot set a forbidden address', async () => {
      const [{ id }] = (await server.api('GET', '/v1/destinations?type=https')).json.data;

      expectRefusal(
        await server.api('PATCH', `/v1/destinations/${id}`, { url: `http://127.0.0.1:${canary.port}/other` }),
        422,
      );
    });

    it('nothing of the rejected requests is stored', async () => {
      const [destinations, events] = await Promise.all(
        ['/v1/destinations', '/v1/events?event_type=hostile'].map((path) => server.api('GET', path)),
      );

      expect(destinations?.json.data.map(({ name }: { name: string }) => name)).not.toContain('Hostile');
      expect(events?.json.data).toEqual([]);
    });
  });

  describe('with plain http forbidden', () => {
    let server: PosthornServer;

    beforeAll(async () => {
      server = await startServer({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8', EGRESS_ALLOW_HTTP: 'false' });
    });

    afterAll(() => server.stop());

    it('http is rejected even in an allowed network', async () => {
      const [hostile, before] = [new Hostile(server), canary.connections];

      for (const url of [`http://127.0.0.1:${canary.port}/`, 'http://example.com/', `HTTP:127.0.0.1:${canary.port}`]) {
        expectRefusal(await hostile.create(url), 422);
        expect((await hostile.check(url)).json).toMatchObject({ ok: false, detail: expect.stringMatching(/https/) });
        expectRefusal(await hostile.send(url), 422);
      }
      expect(canary.connections).toBe(before);
    });
  });

  describe('with loopback allowed', () => {
    let server: PosthornServer;
    let metricsPort: number;
    let hostile: Hostile;

    beforeAll(async () => {
      const freed = await rawReceiver();
      metricsPort = freed.port;
      await freed.close();
      server = await startServer({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128', METRICS_PORT: String(metricsPort) });
      hostile = new Hostile(server);
    });

    afterAll(() => server.stop());

    it('another listener there is reached', async () => {
      expect((await hostile.create(`http://127.0.0.1:${canary.port}/`)).status).toBe(201);
      expect(canary.connections).toBeGreaterThan(0);
    });

    const OWN_HOSTS = ['127.0.0.1', '127.1', '0.0.0.0', '127.0.0.2', '[::1]', '[::ffff:127.0.0.1]'];

    it.each(OWN_HOSTS)('the ports of the service itself are rejected at %s', async (host) => {
      for (const port of [new URL(server.url).port, metricsPort]) {
        const url = `http://${host}:${port}/v1/send`;

        expectRefusal(await hostile.create(url), 422);
        expect((await hostile.check(url)).json).toMatchObject({
          ok: false,
          detail: expect.stringMatching(/listener of this service/),
        });
        expectRefusal(await hostile.send(url), 422);
      }
    });

    it('the port of the service itself is rejected by host name too, at the latest on connect', async () => {
      const url = `http://localhost:${new URL(server.url).port}/health/live`;

      expectRefusal(await hostile.create(url), 422);
      expect((await hostile.check(url)).json).toMatchObject({ ok: false });
      const sent = await hostile.send(url);
      const { attempts } = await eventAfter(server, sent.json.message_id, 1);
      expect(attempts[0]).toMatchObject({ status: null, error: 'blocked' });
    });

    it('networks that are not allowed stay closed', async () => {
      for (const url of [
        'http://10.0.0.1/',
        'http://169.254.169.254/latest/meta-data/',
        'http://metadata.google.internal/',
        'http://[fc00::1]/',
      ]) {
        expectRefusal(await hostile.create(url), 422);
        expectRefusal(await hostile.send(url), 422);
      }
    });

    it('a redirect to a forbidden address is a failure and is not followed', async () => {
      const redirect =
        'HTTP/1.1 307 Temporary Redirect\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n';
      const redirecting = await rawReceiver((socket) => socket.write(redirect));

      const sent = await hostile.send(`http://127.0.0.1:${redirecting.port}/`);

      const { status, attempts } = await eventAfter(server, sent.json.message_id, 1);
      await redirecting.close();
      expect(status).toBe('retrying');
      expect(attempts).toEqual([expect.objectContaining({ number: 1, status: 307, error: null })]);
    });
  });
});
