import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { HttpAdapterHost } from '@nestjs/core';
import fastify, { type FastifyInstance } from 'fastify';
import type { EnvelopeFilter } from '#http/envelope.filter.js';
import { type Config, loadConfig } from '#kernel/config/config.js';
import { ConsoleFiles } from './console-files.js';
import { ConsolePages } from './console-pages.js';
import { isTrustworthy, policyOf } from './page-place.js';

const filter = {
  answer: (
    error: { type: string },
    _request: unknown,
    reply: { code: (status: number) => { send: (body: unknown) => unknown } },
  ) => reply.code(404).send({ error }),
} as unknown as EnvelopeFilter;
const untouched = {
  get httpAdapter(): never {
    throw new Error('There is to be no route.');
  },
} as unknown as HttpAdapterHost;

describe('policyOf', () => {
  it('allows scripts only from the built files', () => {
    const policy = policyOf('https://hooks.example.com/console/assets/');

    expect(policy).toContain('script-src https://hooks.example.com/console/assets/;');
    expect(policy).not.toMatch(/script-src[^;]*'self'|unsafe-|\*/);
  });
});

describe('isTrustworthy', () => {
  it.each([
    ['https://hooks.example.com', true],
    ['http://localhost:3000', true],
    ['http://app.localhost', true],
    ['http://127.0.0.1:3000', true],
    ['http://[::1]:3000', true],
    ['http://posthorn.intranet', false],
    ['http://10.0.0.1', false],
    ['http://127.0.0.1.example.com', false],
  ])('%s: %s', (origin, expected) => {
    expect(isTrustworthy(origin)).toBe(expected);
  });
});

describe('ConsolePages', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-console-'));
  const served: FastifyInstance[] = [];

  beforeAll(() => {
    mkdirSync(path.join(folder, 'assets'));
    writeFileSync(path.join(folder, 'index.html'), '<!doctype html>\n<head>\n</head>');
    writeFileSync(path.join(folder, 'assets', 'a-1.js'), 'script');
    writeFileSync(path.join(folder, 'assets', 'a-1.js.gz'), 'packed');
  });

  afterAll(async () => {
    await Promise.all(served.map((app) => app.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  function serving(env: Record<string, string>): FastifyInstance {
    const app = fastify();
    served.push(app);
    new ConsolePages(untouched, filter, loadConfig(env)).serve(app, new ConsoleFiles(folder));
    return app;
  }

  const DEEP = '/console/live/events/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

  it('serves the page at every address below the path of BASE_URL, with a policy that names the assets there', async () => {
    const app = serving({ BASE_URL: 'https://hooks.example.com/below' });

    for (const url of ['/console', '/console/', DEEP]) {
      const answer = await app.inject({ url, headers: { host: 'hooks.example.com' } });
      expect([answer.statusCode, answer.headers['cache-control'], answer.headers['x-content-type-options']]).toEqual([
        200,
        'no-cache',
        'nosniff',
      ]);
      expect(answer.body).toContain('<base href="/below/console/">');
      expect(answer.headers['content-security-policy']).toContain(
        'script-src https://hooks.example.com/below/console/assets/;',
      );
    }
  });

  it('304: an unchanged page is not sent again', async () => {
    const app = serving({});
    const { headers } = await app.inject('/console');
    const again = await app.inject({ url: '/console', headers: { 'if-none-match': String(headers.etag) } });

    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  it('assets are cached permanently and compressed on request, and an unknown asset is 404', async () => {
    const app = serving({});
    const asset = await app.inject({ url: '/console/assets/a-1.js', headers: { 'accept-encoding': 'gzip, br' } });
    const head = await app.inject({ method: 'HEAD', url: '/console/assets/a-1.js' });

    expect(asset.headers).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'accept-encoding',
    });
    expect(asset.body).toBe('packed');
    expect([head.statusCode, head.body]).toEqual([200, '']);
    for (const url of [
      '/console/assets/b.js',
      '/console/assets/',
      '/console/assets/..%2findex.html',
      '/console/assets/a-1.js.gz',
    ]) {
      expect((await app.inject(url)).statusCode).toBe(404);
    }
  });

  it('redirects from another host to that of BASE_URL once, and keeps the filters', async () => {
    const app = serving({ BASE_URL: 'https://hooks.example.com' });
    const moved = await app.inject({ url: '/console/live/events?since=-1h', headers: { host: '10.0.0.7:3000' } });
    const behindProxy = await app.inject({
      url: '/console/live/events?since=-1h&moved=1',
      headers: { host: '10.0.0.7:3000' },
    });

    expect([moved.statusCode, moved.headers.location]).toEqual([
      302,
      'https://hooks.example.com/console/live/events?since=-1h&moved=1',
    ]);
    expect(behindProxy.statusCode).toBe(200);
  });

  it("is not served on the host of customers' endpoints", async () => {
    const app = serving({ BASE_URL: 'https://hooks.example.com', PLATFORM_DOMAIN: 'ingest.example.com' });

    expect((await app.inject({ url: '/console', headers: { host: 'ingest.example.com' } })).statusCode).toBe(404);
  });

  it('without BASE_URL it uses the called host, and no header becomes part of the policy', async () => {
    const app = serving({});
    const policy = async (host: string): Promise<unknown> =>
      (await app.inject({ url: '/console', headers: { host } })).headers['content-security-policy'];

    expect(await policy('posthorn.lan:3000')).toContain('script-src http://posthorn.lan:3000/console/assets/;');
    expect(await policy("x;script-src 'unsafe-inline'")).not.toContain('unsafe-inline');
  });

  it.each<[string, Record<string, string>]>([
    ['CONSOLE=off', { CONSOLE: 'off' }],
    [
      'ROLE=worker',
      { ROLE: 'worker', DATABASE_URL: 'postgres://localhost/x', MASTER_KEY: Buffer.alloc(32).toString('base64') },
    ],
  ])('%s: there is none', (_name, env) => {
    const config: Config = loadConfig(env);

    expect(() => new ConsolePages(untouched, filter, config).onModuleInit()).not.toThrow();
  });
});
