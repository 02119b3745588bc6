import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { HttpAdapterHost } from '@nestjs/core';
import fastify, { type FastifyInstance } from 'fastify';
import type { EnvelopeFilter } from '#http/envelope.filter.js';
import { loadConfig } from '#kernel/config/config.js';
import { PortalFrames } from '#modules/portal/contract.js';
import { ConsoleFiles } from './console-files.js';
import { PortalPages } from './portal-pages.js';

const filter = {
  answer: (
    error: { type: string },
    _request: unknown,
    reply: { code: (status: number) => { send: (body: unknown) => unknown } },
  ) => reply.code(404).send({ error }),
} as unknown as EnvelopeFilter;
const KNOWN = 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

class OneSession extends PortalFrames {
  override async originsOf(session: string): Promise<readonly string[]> {
    return session === KNOWN ? ['https://app.example.com', 'https://b.example.com'] : [];
  }
}

describe('PortalPages', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-portal-'));
  const served: FastifyInstance[] = [];

  beforeAll(() => {
    mkdirSync(path.join(folder, 'assets'));
    mkdirSync(path.join(folder, 'embed'));
    writeFileSync(path.join(folder, 'index.html'), '<!doctype html>\n<head>\n</head>');
    writeFileSync(path.join(folder, 'portal.html'), '<!doctype html>\n<head>\n</head>');
    writeFileSync(path.join(folder, 'embed', 'portal.js'), 'export const mountPortal = 1;');
  });

  afterAll(async () => {
    await Promise.all(served.map((app) => app.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  function serving(env: Record<string, string>): FastifyInstance {
    const app = fastify();
    served.push(app);
    new PortalPages({} as HttpAdapterHost, filter, loadConfig(env), new OneSession()).serve(
      app,
      new ConsoleFiles(folder),
    );
    return app;
  }

  it('is served below the path of BASE_URL; the origins that may frame it are in its policy and in the page', async () => {
    const app = serving({ BASE_URL: 'https://hooks.example.com/below' });
    const [known, unknown] = [
      await app.inject({ url: `/portal/${KNOWN}`, headers: { host: 'hooks.example.com' } }),
      await app.inject({ url: '/portal/pls_x', headers: { host: 'hooks.example.com' } }),
    ];

    expect(known.body).toContain('<base href="/below/console/">');
    expect(known.body).toContain(
      '<meta name="posthorn-portal-origins" content="https://app.example.com https://b.example.com">',
    );
    expect(known.headers['content-security-policy']).toContain(
      'script-src https://hooks.example.com/below/console/assets/;',
    );
    expect(known.headers['content-security-policy']).toContain(
      'frame-ancestors https://app.example.com https://b.example.com;',
    );
    expect([unknown.statusCode, unknown.headers['content-security-policy']]).toEqual([
      200,
      expect.stringContaining("frame-ancestors 'none';"),
    ]);
  });

  it("redirects from another host to that of BASE_URL, and is not served on the host of customers' endpoints", async () => {
    const app = serving({ BASE_URL: 'https://hooks.example.com', PLATFORM_DOMAIN: 'ingest.example.com' });
    const moved = await app.inject({ url: `/portal/${KNOWN}`, headers: { host: '10.0.0.7:3000' } });

    expect([moved.statusCode, moved.headers.location]).toEqual([
      302,
      `https://hooks.example.com/portal/${KNOWN}?moved=1`,
    ]);
    expect((await app.inject({ url: `/portal/${KNOWN}`, headers: { host: 'ingest.example.com' } })).statusCode).toBe(
      404,
    );
  });

  it('pages of any origin may load the embedding script', async () => {
    const { headers, body } = await serving({}).inject('/portal/embed.js');

    expect([
      headers['content-type'],
      headers['access-control-allow-origin'],
      headers['cross-origin-resource-policy'],
      body,
    ]).toEqual(['text/javascript; charset=utf-8', '*', 'cross-origin', 'export const mountPortal = 1;']);
  });

  it('CONSOLE=off: there is none', () => {
    const untouched = {
      get httpAdapter(): never {
        throw new Error('There is to be no route.');
      },
    } as unknown as HttpAdapterHost;

    expect(() =>
      new PortalPages(untouched, filter, loadConfig({ CONSOLE: 'off' }), new OneSession()).onModuleInit(),
    ).not.toThrow();
  });
});
