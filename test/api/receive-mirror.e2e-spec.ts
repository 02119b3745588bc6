import type { IncomingMessage, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { until } from './polling.js';
import { exchangeBytes } from './raw-request.js';
import type { Inbound, Sent } from './receiving.js';
import { accepted, inbound, json, provide, requestsOf, setSecret } from './receiving.js';
import { destinationAt, eventIn, expectStatus, WITHIN_MS } from './scene.js';

const { webhooks: stripe } = new Stripe('sk_test_1');

/** A received request with its raw header lines. */
interface Seen {
  method: string;
  url: string;
  rawHeaders: string[];
  body: Buffer;
}

/** A target that accepts any method at any path. */
interface Wide {
  url: string;
  seen: Seen[];
  server: Server;
}

async function startWide(answer: (seen: Seen, index: number) => number = () => 200): Promise<Wide> {
  const seen: Seen[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const { method = '', url = '', rawHeaders } = request;
        const each = { method, url, rawHeaders, body: Buffer.concat(chunks) };
        // A HEAD request is the probe at the creation of the destination, not a mirrored request.
        const isProbe = method === 'HEAD';
        response.writeHead(isProbe ? 200 : answer(each, seen.push(each) - 1)).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, server };
}

describe('mirror destinations', () => {
  let server: PosthornServer;
  const wides: Wide[] = [];

  beforeAll(async () => {
    server = await sharedServer();
  });

  afterAll(async () => {
    await server.stop();
    for (const wide of wides) {
      wide.server.closeAllConnections();
      await new Promise((resolve) => wide.server.close(resolve));
    }
  });

  const wide = async (answer?: (seen: Seen, index: number) => number): Promise<Wide> => {
    const started = await startWide(answer);
    wides.push(started);
    return started;
  };

  const mirrorTo = async (url: string, settings: object = {}, more: object = {}): Promise<Inbound> =>
    inbound(server, { destinations: [await destinationAt(server, url, { type: 'mirror', ...more })], ...settings });

  const mirrored = async ({ seen }: Wide, count = 1): Promise<Seen> =>
    (
      await until(
        async () => seen,
        ({ length }) => length >= count,
        WITHIN_MS,
      )
    )[count - 1] as Seen;

  const headersOf = ({ rawHeaders }: Seen): [string, string][] =>
    Array.from({ length: rawHeaders.length / 2 }, (_, i) => [
      String(rawHeaders[2 * i]).toLowerCase(),
      String(rawHeaders[2 * i + 1]),
    ]);

  it.each<[string, string, string, Sent, string]>([
    ['POST with JSON', '', '', json({ b: 1, a: 2 }), '/'],
    [
      'PUT with bytes',
      '/base',
      '/sub/a%20b%2Fc',
      { method: 'PUT', body: Buffer.from([0, 255, 10]), headers: { 'content-type': 'application/x-own' } },
      '/base/sub/a%20b%2Fc',
    ],
    [
      'PATCH to a target with a query',
      '/base/?token=t',
      '/x?a=1&a=2&b=%20+&c',
      { method: 'PATCH', body: 'x' },
      '/base/x?token=t&a=1&a=2&b=%20+&c',
    ],
    ['DELETE', '/base', '', { method: 'DELETE' }, '/base'],
    ['GET', '/base', '?q=%zz', { method: 'GET' }, '/base?q=%zz'],
    ['OPTIONS', '', '/', { method: 'OPTIONS' }, '/'],
    [
      'double slashes and dots in segment names',
      '/base/',
      '//evil.example//...',
      { body: '' },
      '/base//evil.example//...',
    ],
  ])('%s: method, path suffix, query and body are forwarded unchanged', async (_title, at, suffix, sent, expected) => {
    const target = await wide();
    const endpoint = await mirrorTo(target.url + at);

    const { json: answer } = expectStatus(await provide(server, endpoint.at + suffix, sent), 200);

    const seen = await mirrored(target);
    expect([seen.method, seen.url]).toEqual([sent.method ?? 'POST', expected]);
    expect(seen.body.equals(Buffer.from(sent.body ?? ''))).toBe(true);
    await eventIn(server, answer.id, 'delivered');
  });

  it('headers are forwarded unchanged, without connection headers and with the headers of the destination', async () => {
    const target = await wide();
    const endpoint = await mirrorTo(target.url, {}, { headers: { 'x-own': 'ours', 'x-static': 's' } });
    const head = [
      `POST ${endpoint.at} HTTP/1.1`,
      'Host: in.example.com',
      'Connection: keep-alive, X-Hop',
      'X-Hop: 1',
      'Keep-Alive: timeout=5',
      'TE: trailers',
      'Proxy-Authorization: Basic eDp5',
      'Proxy-Connection: close',
      'Authorization: Bearer theirs',
      'Cookie: a=b',
      'User-Agent: Provider/1.0',
      'X-Own: theirs',
      'X-Twice: 1',
      'X-Twice: 2',
      'X-Latin: caf\xe9',
      'webhook-id: theirs',
      'webhook-signature: v1,theirs',
      'Content-Type: text/x-own; a="b"',
      'Content-Length: 2',
      '',
      'hi',
    ].join('\r\n');

    expectStatus((await exchangeBytes(server, Buffer.from(head, 'latin1'))).answers[0] as never, 200);

    const seen = await mirrored(target);
    const headers = new Map(headersOf(seen));
    for (const [name, value] of Object.entries({
      authorization: 'Bearer theirs',
      cookie: 'a=b',
      'user-agent': 'Provider/1.0',
      'x-own': 'ours',
      'x-static': 's',
      'x-twice': '1, 2',
      'x-latin': 'caf\xe9',
      'webhook-id': 'theirs',
      'webhook-signature': 'v1,theirs',
      'content-type': 'text/x-own; a="b"',
      'posthorn-hops': '1',
      'content-length': '2',
    }))
      expect([name, headers.get(name)]).toEqual([name, value]);
    for (const name of ['x-hop', 'te', 'proxy-authorization', 'proxy-connection'])
      expect([name, headers.get(name)]).toEqual([name, undefined]);
    expect(headers.get('host')).toBe(new URL(target.url).host);
    expect(String(seen.body)).toBe('hi');
  });

  it("the provider's signature still verifies at the target, with the provider's library, also after retries", async () => {
    const target = await wide((_seen, index) => (index === 0 ? 503 : 200));
    const endpoint = await mirrorTo(target.url, { preset: 'stripe' }, { retry: { schedule: [0, 1, 1] } });
    const secret = 'whsec_stripe';
    await setSecret(server, endpoint, secret);
    const payload = '{"id": "evt_1",\n "type": "invoice.paid"}';

    const id = await accepted(server, endpoint, {
      body: payload,
      headers: {
        'Stripe-Signature': stripe.generateTestHeaderString({ payload, secret }),
        'content-type': 'application/json',
      },
    });

    const seen = await mirrored(target, 2);
    const signature = new Map(headersOf(seen)).get('stripe-signature') ?? '';
    expect(stripe.constructEvent(seen.body, signature, secret)).toMatchObject({ id: 'evt_1', type: 'invoice.paid' });
    await eventIn(server, id, 'delivered');
  });

  it('the received request is mirrored, not the transformed body', async () => {
    const target = await wide();
    const endpoint = await mirrorTo(target.url, {
      transform: { engine: 'managed', code: 'export default () => ({ body: { changed: true } })', timeoutMs: 2000 },
    });

    await accepted(server, endpoint, json({ n: 1 }));

    expect(String((await mirrored(target)).body)).toBe('{"n":1}');
  });

  it('a replay is mirrored again and marked; a sent event has no request and is posted as JSON', async () => {
    const target = await wide();
    const destination = await destinationAt(server, target.url, { type: 'mirror' });
    const endpoint = await inbound(server, { destinations: [destination] });
    const id = await accepted(server, endpoint, json({ n: 1 }));
    await eventIn(server, id, 'delivered');

    expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);
    const again = await mirrored(target, 2);
    expectStatus(await server.api('POST', '/v1/send', { destination, event_type: 'a', payload: { sent: 1 } }), 202);
    const sent = await mirrored(target, 3);

    expect(new Map(headersOf(again)).get('webhook-replayed')).toBe('true');
    expect(String(again.body)).toBe('{"n":1}');
    expect([sent.method, new Map(headersOf(sent)).get('content-type'), String(sent.body)]).toEqual([
      'POST',
      'application/json',
      '{"sent":1}',
    ]);
  });

  it.each(['', '/in/acme/x', '/elsewhere'])(
    '422: a target on the ingest host of Posthorn is rejected (%s)',
    async (path) => {
      for (const origin of [
        server.url,
        server.url.replace('127.0.0.1', 'localhost'),
        `${server.url.replace('127.0.0.1', '127.0.0.1.')}`,
      ]) {
        const answer = await server.api('POST', '/v1/destinations', {
          name: 'A loop',
          type: 'mirror',
          url: origin + path,
        });
        expectRefusal(answer, 422);
      }
      expectInvalid(
        await server.api('POST', '/v1/destinations', { name: 'A loop', type: 'mirror', url: server.url + path }),
        'connectivity',
        'url',
      );
    },
  );

  it('422: names missing and unknown fields', async () => {
    expectInvalid(await server.api('POST', '/v1/destinations', { name: 'No URL', type: 'mirror' }), 'schema', 'url');
    expectInvalid(
      await server.api('POST', '/v1/destinations', {
        name: 'More',
        type: 'mirror',
        url: 'https://example.com',
        config: { x: 1 },
      }),
      'schema',
      'config.x',
    );
  });

  describe.each(['https', 'mirror'])('a loop through another host, by %s', (type) => {
    it('409 at the eighth hop ends the loop', async () => {
      let at = '';
      const statuses: number[] = [];
      // Simulates an integration that sends the body and headers of each delivery back to the endpoint.
      const loop = createServer((request, response) => {
        const chunks: Buffer[] = [];
        request
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .on('end', () => {
            const hops = request.headers['posthorn-hops'];
            if (at === '' || hops === undefined) return response.end();
            void provide(server, at, {
              body: Buffer.concat(chunks),
              headers: { 'content-type': 'application/json', 'posthorn-hops': String(hops) },
            }).then(({ status }) => {
              statuses.push(status);
              response.writeHead(200).end();
            });
          });
      });
      await new Promise<void>((resolve) => loop.listen(0, '127.0.0.1', resolve));
      try {
        const endpoint = await inbound(server, {
          destinations: [
            await destinationAt(server, `http://127.0.0.1:${(loop.address() as AddressInfo).port}`, { type }),
          ],
        });
        at = endpoint.at;

        await accepted(server, endpoint, json({ n: 1 }));
        await until(
          async () => statuses,
          (all) => all.includes(409),
          WITHIN_MS,
        );

        expect(statuses.sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 409]);
        expect(await requestsOf(server, endpoint)).toHaveLength(8);
      } finally {
        loop.closeAllConnections();
        await new Promise((resolve) => loop.close(resolve));
      }
    });
  });

  it('409 with the error envelope: a request with eight hops; a hop header that is not a number counts as none', async () => {
    const endpoint = await inbound(server);

    for (const hops of ['8', '9', '999'])
      expectRefusal(await provide(server, endpoint.at, json({}, { 'posthorn-hops': hops })), 409);
    for (const hops of ['7', '-1', '1e9', '', 'x'])
      expectStatus(await provide(server, endpoint.at, json({}, { 'posthorn-hops': hops })), 200);
    expect(await requestsOf(server, endpoint)).toHaveLength(5);
  });

  it('blocked: an https destination at a listener of Posthorn is never called', async () => {
    const endpoint = await inbound(server);
    const answer = await server.api('POST', '/v1/destinations', {
      name: 'A loop',
      type: 'https',
      url: server.url + endpoint.at,
    });

    expectRefusal(answer, 422);
    expect(await requestsOf(server, endpoint)).toEqual([]);
  });
});
