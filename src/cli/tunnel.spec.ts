import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type components, PosthornClient } from '../client/index.js';
import { forward } from './forward.js';
import { type Forwarded, type Notice, Tunnel, type TunnelOptions } from './tunnel.js';

type RawRequest = components['schemas']['RequestDetailItem'];

const raw = (fields: object): RawRequest =>
  ({
    method: 'POST',
    path: '',
    query: '',
    headers: [],
    body: '{}',
    body_encoding: 'utf8',
    status: 'routed',
    received_at: '2026-11-22T10:00:01.000Z',
    ...fields,
  }) as unknown as RawRequest;

describe('a tunnel', () => {
  let local: Server;
  let to: URL;
  let folder: string;
  let arrived: string[];

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-tunnel-'));
    local = createServer((request, response) => {
      arrived.push(request.url ?? '');
      response.writeHead(200).write('x');
      if (request.url !== '/trickle') response.end();
    }).listen(0, '127.0.0.1');
    await once(local, 'listening');
    to = new URL(`http://127.0.0.1:${(local.address() as AddressInfo).port}`);
  });

  beforeEach(() => void (arrived = []));

  afterAll(() => {
    local.close();
    local.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  });

  it('waits for a service that becomes unavailable while a gap is filled, and forwards each request once, as late', async () => {
    const stop = new AbortController();
    const gap = { reason: 'too_old', since: '2026-11-22T10:00:00.000Z', until: '2026-11-22T11:00:00.000Z' };
    let lists = 0;
    const answer = (body: unknown): Response =>
      new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
    const client = new PosthornClient({
      baseUrl: 'http://service.invalid',
      apiKey: 'k',
      retries: 0,
      fetch: async ({ url, signal }) => {
        if (url.includes('/v1/events/stream')) {
          return new Response(
            new ReadableStream({
              start: (out) => {
                out.enqueue(new TextEncoder().encode(`event: gap\nid: 1.2.3\ndata: ${JSON.stringify(gap)}\n\n`));
                signal.addEventListener('abort', () => out.error(signal.reason));
              },
            }),
          );
        }
        if (/\/requests\/evt_\w+$/.test(url)) return answer(raw({ path: `/${url.slice(-1)}` }));
        if (/\/requests\?/.test(url)) {
          if (!url.includes('cursor'))
            return answer({
              data: [{ event_id: 'evt_1', status: 'routed', received_at: gap.since }],
              next_cursor: 'c',
            });
          lists += 1;
          if (lists === 1) throw new TypeError('fetch failed');
          return answer({ data: [{ event_id: 'evt_2', status: 'routed', received_at: gap.since }], next_cursor: null });
        }
        return answer({ data: [{ id: 'ep_1', path: 'shop' }], next_cursor: null });
      },
    });
    const forwarded: Forwarded[] = [];
    const notices: Notice['kind'][] = [];
    const hooks = {
      forwarded: (one: Forwarded) => {
        if (forwarded.push(one) === 2) stop.abort();
      },
      notice: ({ kind }: Notice) => void notices.push(kind),
    };

    await new Tunnel(client, to, null, hooks, { folder }).run(false, stop.signal);

    expect(forwarded.map(({ event_id, is_late, is_again }) => ({ event_id, is_late, is_again }))).toEqual(
      ['evt_1', 'evt_2'].map((id) => ({ event_id: id, is_late: true, is_again: false })),
    );
    expect(arrived.sort()).toEqual(['/1', '/2']);
    expect(notices).toEqual(['gap', 'waiting']);
  });

  describe('with several requests at the same time', () => {
    const answer = (body: unknown): Response =>
      new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });

    const ends: (() => Promise<void>)[] = [];

    afterEach(async () => {
      for (const end of ends.splice(0)) await end();
    });

    async function scene(ids: readonly string[], options: TunnelOptions, resumes = false) {
      const held = new Map<string, ServerResponse[]>();
      let secondIsAsked = (): void => undefined;
      const secondAsked = new Promise<void>((resolve) => (secondIsAsked = resolve));
      const began: string[] = [];
      const slow = createServer((request, response) => {
        const name = (request.url ?? '').slice(1);
        began.push(name);
        held.set(name, [...(held.get(name) ?? []), response]);
      }).listen(0, '127.0.0.1');
      await once(slow, 'listening');
      const stop = new AbortController();
      const asked: (string | null)[] = [];
      const own = mkdtempSync(path.join(folder, 'several-'));
      const client = new PosthornClient({
        baseUrl: 'http://service.invalid',
        apiKey: 'k',
        retries: 0,
        fetch: async ({ url, signal, headers }) => {
          if (url.includes('/v1/events/stream')) {
            asked.push(headers.get('last-event-id'));
            return new Response(
              new ReadableStream({
                start: (out) => {
                  const said: [event: string, id: string, data: object][] = [['ready', '1.0.0', {}]];
                  for (const [index, id] of ids.entries())
                    said.push(['accepted', `1.${index + 1}.0`, { id, endpoint: 'shop', status: 'routed' }]);
                  for (const [event, id, data] of said)
                    out.enqueue(
                      new TextEncoder().encode(`event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`),
                    );
                  signal.addEventListener('abort', () => out.error(signal.reason));
                },
              }),
              { headers: { 'content-type': 'text/event-stream' } },
            );
          }
          const [, found] = /\/requests\/(evt_\w+)$/.exec(url) ?? [];
          // Answers the first fetch only after the second has arrived. Both must still be forwarded in order.
          if (found === ids[1]) secondIsAsked();
          if (found === ids[0] && options.concurrency !== 1) await secondAsked;
          return found === undefined
            ? answer({ data: [{ id: 'ep_1', path: 'shop' }], next_cursor: null })
            : answer(raw({ path: `/${found}` }));
        },
      });
      const forwarded: Forwarded[] = [];
      const hooks = { forwarded: (one: Forwarded) => void forwarded.push(one), notice: () => undefined };
      const target = new URL(`http://127.0.0.1:${(slow.address() as AddressInfo).port}`);
      const tunnelIn = (given: TunnelOptions): Tunnel =>
        new Tunnel(client, target, null, hooks, { folder: own, ...given });
      const running = tunnelIn(options).run(resumes, stop.signal);
      const until = async (isSo: () => boolean): Promise<void> => {
        for (let tries = 0; !isSo() && tries < 2_000; tries += 1)
          await new Promise((resolve) => setTimeout(resolve, 5));
        if (!isSo())
          throw new Error(
            `It did not come to that: ${JSON.stringify({ began, forwarded: forwarded.map(({ event_id: id }) => id) })}`,
          );
      };
      const place = (): unknown => JSON.parse(readFileSync(path.join(own, readdirSync(own)[0] ?? ''), 'utf8'));
      const release = (id: string): void => held.get(id)?.forEach((response) => void response.end());
      ends.push(async () => {
        stop.abort();
        for (const id of held.keys()) release(id);
        await running;
        slow.close();
        slow.closeAllConnections();
      });
      return { began, forwarded, until, place, release, asked, tunnelIn };
    }

    it('starts requests in the order of arrival, up to --concurrency at once, and the next one when one has ended', async () => {
      const ids = ['evt_1', 'evt_2', 'evt_3', 'evt_4'];
      const { began, forwarded, until, release } = await scene(ids, { concurrency: 3 });
      await until(() => began.length === 3);
      expect(began).toEqual(['evt_1', 'evt_2', 'evt_3']);

      release('evt_2');
      await until(() => began.length === 4);

      expect(began).toEqual(ids);
      expect(forwarded.map(({ event_id: id }) => id)).toEqual(['evt_2']);
    });

    it('--concurrency 1 waits for each response', async () => {
      const { began, forwarded, until, release } = await scene(['evt_1', 'evt_2'], { concurrency: 1 });
      await until(() => began.length === 1);
      release('evt_1');
      await until(() => began.length === 2);
      release('evt_2');
      await until(() => forwarded.length === 2);

      expect(forwarded.map(({ event_id: id }) => id)).toEqual(['evt_1', 'evt_2']);
    });

    it('the stored position stays before the oldest unfinished request; the next run continues there, skips finished requests, and marks those that may repeat', async () => {
      const { began, forwarded, until, place, release, asked, tunnelIn } = await scene(['evt_1', 'evt_2', 'evt_3'], {
        concurrency: 2,
      });
      await until(() => began.length === 2);
      release('evt_2');
      await until(() => began.length === 3);
      expect(place()).toEqual({ last_event_id: '1.0.0', under_way: ['evt_1', 'evt_3'], done: ['evt_2'] });

      const stop = new AbortController();
      const again = tunnelIn({ concurrency: 2 }).run(true, stop.signal);
      await until(() => began.length === 5);
      release('evt_1');
      release('evt_3');
      await until(() => forwarded.length === 5);
      stop.abort();
      await again;

      expect(asked).toEqual([null, '1.0.0']);
      expect(began.filter((id) => id === 'evt_2')).toHaveLength(1);
      expect(
        forwarded
          .filter(({ is_again: isAgain }) => isAgain)
          .map(({ event_id: id }) => id)
          .sort(),
      ).toEqual(['evt_1', 'evt_3']);
    });

    it('a permanent error ends the run after the started requests', async () => {
      const client = new PosthornClient({
        baseUrl: 'http://service.invalid',
        apiKey: 'k',
        retries: 0,
        fetch: async ({ url, signal }) =>
          url.includes('/v1/events/stream')
            ? new Response(
                new ReadableStream({
                  start: (out) => {
                    out.enqueue(
                      new TextEncoder().encode(
                        'event: accepted\nid: 1.1.0\ndata: {"id":"evt_1","endpoint":"shop"}\n\n',
                      ),
                    );
                    signal.addEventListener('abort', () => out.error(signal.reason));
                  },
                }),
              )
            : new Response('{"error":{"type":"insufficient_scope","message":"No."}}', { status: 403 }),
      });

      await expect(
        new Tunnel(client, to, null, { forwarded: () => undefined, notice: () => undefined }, { folder }).run(
          false,
          new AbortController().signal,
        ),
      ).rejects.toMatchObject({ status: 403 });
    });
  });

  it('a request that Node.js cannot send, or a program with an endless response, fails one request and not the tunnel', async () => {
    expect(await forward(raw({ path: '/a b\n\u4e2d' }), to)).toMatchObject({
      status: null,
      error: expect.stringContaining('unescaped'),
    });
    expect(await forward(raw({ headers: [['x-a', 'b\nc']] }), to)).toMatchObject({
      status: null,
      error: expect.stringMatching(/invalid/i),
    });
    expect(await forward(raw({ path: '/trickle' }), to, 50)).toMatchObject({
      status: null,
      error: 'no response within 0.05 s',
    });
    expect(await forward(raw({ path: '/fine' }), to)).toMatchObject({ status: 200, error: null });
  });
});
