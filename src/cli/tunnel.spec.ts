import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type components, PosthornClient } from '../client/index.js';
import { forward } from './forward.js';
import { type Forwarded, type Notice, Tunnel } from './tunnel.js';

type RawRequest = components['schemas']['RequestDetailItem'];

const raw = (fields: object): RawRequest => ({ method: 'POST', path: '', query: '', headers: [], body: '{}', body_encoding: 'utf8', status: 'routed', received_at: '2026-11-22T10:00:01.000Z', ...fields }) as unknown as RawRequest;

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

  it('a service that goes away while a gap is filled is waited for, and each is forwarded once, as late', async () => {
    const stop = new AbortController();
    const gap = { reason: 'too_old', since: '2026-11-22T10:00:00.000Z', until: '2026-11-22T11:00:00.000Z' };
    let lists = 0;
    const answer = (body: unknown): Response => new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
    const client = new PosthornClient({
      baseUrl: 'http://service.invalid', apiKey: 'k', retries: 0,
      fetch: async ({ url, signal }) => {
        if (url.includes('/v1/events/stream')) {
          return new Response(new ReadableStream({ start: (out) => {
            out.enqueue(new TextEncoder().encode(`event: gap\nid: 1.2.3\ndata: ${JSON.stringify(gap)}\n\n`));
            signal.addEventListener('abort', () => out.error(signal.reason));
          } }));
        }
        if (/\/requests\/evt_\w+$/.test(url)) return answer(raw({ path: `/${url.slice(-1)}` }));
        if (/\/requests\?/.test(url)) {
          // The first page comes, the second one does not, once.
          if (!url.includes('cursor')) return answer({ data: [{ event_id: 'evt_1', status: 'routed', received_at: gap.since }], next_cursor: 'c' });
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

    await new Tunnel(client, to, null, hooks, folder).run(false, stop.signal);

    expect(forwarded.map(({ event_id, is_late, is_again }) => ({ event_id, is_late, is_again }))).toEqual(['evt_1', 'evt_2'].map((event_id) => ({ event_id, is_late: true, is_again: false })));
    expect(arrived).toEqual(['/1', '/2']);
    expect(notices).toEqual(['gap', 'waiting']);
  });

  it('what Node.js does not send, and a program that trickles, end one request and not the tunnel', async () => {
    expect(await forward(raw({ path: '/a b\n\u4e2d' }), to)).toMatchObject({ status: null, error: expect.stringContaining('unescaped') });
    expect(await forward(raw({ headers: [['x-a', 'b\nc']] }), to)).toMatchObject({ status: null, error: expect.stringMatching(/invalid/i) });
    expect(await forward(raw({ path: '/trickle' }), to, 50)).toMatchObject({ status: null, error: 'no answer within 0.05 s' });
    expect(await forward(raw({ path: '/fine' }), to)).toMatchObject({ status: 200, error: null });
  });
});
