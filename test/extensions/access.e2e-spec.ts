import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { as, createKey, expectRefusal } from '../api/answers.js';
import { ROOT } from '../architecture/source-tree.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';

const SCOPES = ['read', 'write', 'admin'] as const;
const UNKNOWN = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const OPERATOR_KEY = 'the-key-of-the-operator-in-this-suite';

/** Code of an extension with its own routes, and with a guard and a quota in addition to the scope checks. */
const EXTENSION = `
import { Controller, Get, Post, HttpCode, Module, UseGuards, Injectable, ForbiddenException } from '@nestjs/common';
import { ApiOperation, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AccessRule, ApiError, Extension, RateLimit, Scope, ScopeGuard, ScopeRule, Section } from 'posthorn';

const decorate = (target, name, ...decorators) => decorators.reverse().forEach((each) => each(target.prototype, name, Object.getOwnPropertyDescriptor(target.prototype, name)));

class OfficeHours { canActivate(context) { if (context.switchToHttp().getRequest().headers['x-closed']) throw new ForbiddenException('Closed.'); return true; } }
class AccessController {
  readThing() { return { ok: true }; }
  writeThing() { return { ok: true }; }
  adminThing() { return { ok: true }; }
}
const described = (summary) => [ApiOperation({ summary }), ApiOkResponse({ description: 'Done.' })];
decorate(AccessController, 'readThing', Get('read/:id'), Scope('read'), UseGuards(ScopeGuard, OfficeHours), ApiParam({ name: 'id', description: 'The thing.', example: 'a' }), ...described('Read'));
decorate(AccessController, 'writeThing', Post('write'), HttpCode(200), Scope('write'), RateLimit({ name: 'access-write', count: 5, seconds: 3600 }), ...described('Write'));
decorate(AccessController, 'adminThing', Post('admin'), HttpCode(200), Scope('admin'), ...described('Administer'));
Controller('v1/x-access')(AccessController);
Section('Access', 'What the extension of the test of access offers.')(AccessController);

class NothingOnSundays extends AccessRule {
  scopes = new ScopeRule();
  refusal(access, presented) {
    return presented.caller && presented.caller.scope === 'write' && access === 'read' ? new ApiError('insufficient_scope', 'Writers do not read here.') : this.scopes.refusal(access, presented);
  }
}
Injectable()(NothingOnSundays);

export default class AccessModule {}
Module({ controllers: [AccessController], providers: [OfficeHours, ...(process.env.OWN_RULE === 'true' ? [NothingOnSundays] : [])] })(AccessModule);
Extension({ name: 'access' })(AccessModule);
`;

interface Operation {
  route: string;
  needs: (typeof SCOPES)[number] | 'operator' | 'public';
}

describe('access to every route', () => {
  let folder: string;
  let server: PosthornServer;
  let keys: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-access-'));
    writeFileSync(path.join(folder, 'package.json'), '{"name":"posthorn-access","type":"module"}');
    writeFileSync(path.join(folder, 'index.js'), EXTENSION);
    mkdirSync(path.join(folder, 'node_modules'));
    for (const name of ['@nestjs', 'reflect-metadata'])
      symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
    symlinkSync(ROOT, path.join(folder, 'node_modules', 'posthorn'));
    server = await startServer({ EXTENSIONS: path.join(folder, 'index.js'), OPERATOR_KEY });
    keys = Object.fromEntries(
      await Promise.all(SCOPES.map(async (scope) => [scope, (await createKey(server, { scope })).key] as const)),
    );
  });

  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function operations(): Promise<Operation[]> {
    type Paths = Record<string, Record<string, { security?: Record<string, string[]>[] }>>;
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Paths };
    return Object.entries(paths).flatMap(([url, item]) =>
      Object.entries(item).map(([method, { security = [] }]) => {
        const [scheme] = security;
        const needs =
          scheme === undefined
            ? 'public'
            : 'operatorKey' in scheme
              ? 'operator'
              : (scheme['apiKey']?.[0] as Operation['needs']);
        return { route: `${method.toUpperCase()} ${url}`, needs };
      }),
    );
  }

  function knock(route: string, headers: Record<string, string>): Promise<ApiAnswer> {
    const [method = '', at = ''] = route.split(' ');
    // Requests the stream with `follow=false`, so that it ends by itself.
    const url = at === '/v1/events/stream' ? `${at}?follow=false` : at;
    return server.api(
      method,
      url.replaceAll(/\{\w+\}/g, `dst_${UNKNOWN}`),
      method === 'GET' || method === 'DELETE' ? undefined : {},
      headers,
    );
  }

  it('401, 403 or access granted, as documented for each route of Posthorn and of the extension', async () => {
    const all = await operations();
    const wrong: string[] = [];
    const expected = (needs: Operation['needs'], who: string): number | null => {
      if (needs === 'public') return null;
      if (needs === 'operator') return who === 'operator' ? null : 401;
      if (!(SCOPES as readonly string[]).includes(who)) return 401;
      return SCOPES.indexOf(who as 'read') >= SCOPES.indexOf(needs) ? null : 403;
    };

    for (const { route, needs } of all) {
      for (const who of ['nobody', 'operator', ...SCOPES]) {
        const { status } = await knock(route, {
          authorization: who === 'nobody' ? '' : `Bearer ${who === 'operator' ? OPERATOR_KEY : keys[who]}`,
        });
        const wanted = expected(needs, who);
        if (wanted === null ? status === 401 || status === 403 : status !== wanted)
          wrong.push(`${route} as ${who}: ${status}, not ${wanted ?? 'past the door'}`);
      }
    }

    expect(wrong).toEqual([]);
    expect(all.length).toBeGreaterThan(100);
    expect(
      all
        .filter(({ route }) => route.includes('/x-access/'))
        .map(({ needs }) => needs)
        .sort(),
    ).toEqual(['admin', 'read', 'write']);
  });

  it("an extension's own guard runs after the scope check", async () => {
    expect((await server.api('GET', '/v1/x-access/read/a')).json).toEqual({ ok: true });
    const closed = await server.api('GET', '/v1/x-access/read/a', undefined, { 'x-closed': '1' });
    expect({ status: closed.status, type: closed.json.error.type }).toEqual({ status: 403, type: 'forbidden' });
    expectRefusal(
      await server.api('GET', '/v1/x-access/read/a', undefined, { 'x-closed': '1', authorization: '' }),
      401,
    );
  });

  it("429: a route's own quota, with the headers of every other quota", async () => {
    const answers = [];
    for (let i = 0; i < 8 && answers.at(-1)?.status !== 429; i += 1)
      answers.push(await server.api('POST', '/v1/x-access/write', {}));

    const last = answers.at(-1) as ApiAnswer;
    expectRefusal(last, 429);
    expect(last.json.error.details).toEqual({ quota: 'access-write' });
    expect(last.headers.get('ratelimit-limit')).toBe('5');
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await server.api('GET', '/v1/x-access/read/a')).status).toBe(200);
  });

  it("an extension's writes are in the audit log without further code", async () => {
    const { headers } = await server.api('POST', '/v1/x-access/admin', {});

    const { data } = (await server.api('GET', '/v1/audit?action=POST%20/v1/x-access/admin')).json;
    expect(data[0]).toMatchObject({
      request_id: headers.get('x-request-id'),
      resource_type: 'x-access',
      after: { ok: true },
    });
  });

  it("an extension's rule replaces the scopes, before the body is read and before the handler", async () => {
    const other = await startServer({ ...server.env, OWN_RULE: 'true' });
    const asWriter = await other.api('GET', '/v1/org', undefined, as(keys['write'] ?? ''));
    const asReader = await other.api('GET', '/v1/org', undefined, as(keys['read'] ?? ''));
    await other.stop();

    expectRefusal(asWriter, 403);
    expect(asWriter.json.error.message).toBe('Writers do not read here.');
    expect(asReader.status).toBe(200);
  });
});
