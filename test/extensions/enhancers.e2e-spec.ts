import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expectRefusal } from '../api/answers.js';
import { until } from '../api/polling.js';
import { ROOT } from '../architecture/source-tree.js';
import { type PosthornServer, startServer } from '../support/server.js';

/** Classes that docs/extending.md lists as injectable. */
const INJECTABLE = [
  ...(
    /You can inject these classes anywhere: ([\s\S]*?)\.\n/.exec(
      readFileSync(path.join(ROOT, 'docs', 'extending.md'), 'utf8'),
    )?.[1] ?? ''
  ).matchAll(/`(\w+)`/g),
].map(([, name]) => name as string);

/** Extension that throws each kind of exception. Its global guard refuses requests with a certain header. */
const EXTENSION = `
import {
  BadRequestException, Catch, ConflictException, Controller, ForbiddenException, Get, GoneException, Injectable,
  InternalServerErrorException, Module, Param, ParseIntPipe, Post, HttpCode, UnprocessableEntityException, UseFilters, UseGuards,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import * as posthorn from 'posthorn';

const { Adapter, DestinationAdapter, Extension, Public, Scope, Section, TokenAuthenticator, notFound } = posthorn;
const decorate = (target, name, ...decorators) => decorators.reverse().forEach((each) => each(target.prototype, name, Object.getOwnPropertyDescriptor(target.prototype, name)));
const described = (summary) => [ApiOperation({ summary }), ApiOkResponse({ description: 'Done.' })];
const THROWN = {
  sentence: () => new BadRequestException('The month is closed.'),
  list: () => new BadRequestException(['amount must be a number', 'Pick one of both.']),
  unprocessable: () => new UnprocessableEntityException('The month is closed.'),
  conflict: () => new ConflictException({ message: 'The month is closed.', month: '2026-11' }),
  gone: () => new GoneException('The month was archived.'),
  missing: () => notFound('The month is not in the books.', { month: '2026-11' }),
  bug: () => new InternalServerErrorException('a bug, and a password: hunter2'),
};

class TeapotError extends Error {}
class TeapotFilter {
  catch(error, host) { host.switchToHttp().getResponse().status(418).send({ statusCode: 418, message: error.message }); }
}
Catch(TeapotError)(TeapotFilter);

class NeverGuard { canActivate() { return false; } }
Injectable()(NeverGuard);

class OddController {
  oddThrow(kind) { throw THROWN[kind](); }
  oddTeapot() { throw new TeapotError('I am a teapot.'); }
  oddNumber(number) { return { number }; }
  oddNever() { return {}; }
}
const parameter = (name, example) => ApiParam({ name, description: 'A part.', example });
decorate(OddController, 'oddThrow', Get('thrown/:kind'), Scope('read'), parameter('kind', 'list'), ...described('Throw'));
decorate(OddController, 'oddTeapot', Get('teapot'), Scope('read'), UseFilters(TeapotFilter), ...described('Teapot'));
decorate(OddController, 'oddNumber', Get('numbers/:number'), Scope('read'), parameter('number', '1'), ...described('Number'));
decorate(OddController, 'oddNever', Get('never'), Scope('read'), UseGuards(NeverGuard), ...described('Never'));
Param('kind')(OddController.prototype, 'oddThrow', 0);
Param('number', ParseIntPipe)(OddController.prototype, 'oddNumber', 0);
Controller('v1/x-odd')(OddController);
Section('Odd', 'Routes of a test.')(OddController);

class ClosedGuard {
  canActivate(context) {
    if (context.switchToHttp().getRequest().headers['x-closed']) throw new ForbiddenException('Closed on Sundays.');
    return true;
  }
}

class OddTokens extends TokenAuthenticator {
  async identify(token) { return token === 'acme' ? { organization: 'acme', mode: 'live', scope: 'read', subject: 'ann' } : null; }
}

class KafkaAdapter extends DestinationAdapter {
  type = 'kafka';
  pulled = false;
  check() { return []; }
  async probe() { return { ok: true, detail: 'It is there.' }; }
  async deliver() { return { answer: { kind: 'response', status: 200, retryAfter: null }, durationMs: 1, excerpt: '' }; }
}
Adapter()(KafkaAdapter);

class NeedsAll {}
Injectable()(NeedsAll);
Reflect.defineMetadata('design:paramtypes', JSON.parse(process.env.ODD_INJECTED).map((name) => posthorn[name]), NeedsAll);

export default class OddModule {
  static forRoot(role) {
    return {
      module: OddModule,
      controllers: role === 'worker' ? [] : [OddController],
      providers: [{ provide: APP_GUARD, useClass: ClosedGuard }, KafkaAdapter, NeedsAll, OddTokens],
    };
  }
}
Extension({ name: 'odd' })(OddModule);
`;

/** Returns the code of a module for tests of global enhancers. `code` provides the enhancer. */
const enhancing = (code: string): string => `
import { Catch, Injectable, Module, Scope, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import { Extension } from 'posthorn';
class AllFilter { catch() {} }
Catch()(AllFilter);
class WrapInterceptor { intercept(_context, next) { return next.handle(); } }
Injectable()(WrapInterceptor);
class Inner {}
class OddModule {}
${code}
Extension({ name: 'odd' })(OddModule);
export default OddModule;
`;

describe("Nest's exceptions, guards, filters and pipes in an extension", () => {
  let folder: string;
  let server: PosthornServer;

  const written = (name: string, code: string): string => {
    writeFileSync(path.join(folder, name), code);
    return path.join(folder, name);
  };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'posthorn-enhancers-'));
    writeFileSync(path.join(folder, 'package.json'), '{"name":"posthorn-odd","type":"module"}');
    mkdirSync(path.join(folder, 'node_modules'));
    for (const name of ['@nestjs', 'reflect-metadata'])
      symlinkSync(path.join(ROOT, 'node_modules', name), path.join(folder, 'node_modules', name));
    symlinkSync(ROOT, path.join(folder, 'node_modules', 'posthorn'));
    server = await startServer({
      EXTENSIONS: written('index.js', EXTENSION),
      ODD_INJECTED: JSON.stringify(INJECTABLE),
    });
  });

  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([
    ['400', 'one sentence', 'sentence', 400, 'The month is closed.', {}],
    [
      '422',
      'a list of sentences',
      'list',
      422,
      'amount must be a number (and 1 more, see details.fields)',
      {
        check: 'schema',
        fields: [
          { path: 'amount', message: 'amount must be a number' },
          { path: '', message: 'Pick one of both.' },
        ],
      },
    ],
    [
      '422',
      'an unprocessable entity',
      'unprocessable',
      422,
      'The month is closed.',
      { check: 'schema', fields: [{ path: '', message: 'The month is closed.' }] },
    ],
    ['409', 'an object with a sentence', 'conflict', 409, 'The month is closed.', { month: '2026-11' }],
    ['404', 'a status that the error table lacks', 'gone', 404, 'The month was archived.', {}],
    ['404', 'notFound with a sentence', 'missing', 404, 'The month is not in the books.', { month: '2026-11' }],
  ])('%s: %s', async (_status, _what, kind, status, message, details) => {
    const answer = await server.api('GET', `/v1/x-odd/thrown/${kind}`);

    expectRefusal(answer, status);
    expect(answer.json.error).toMatchObject({ message, details });
  });

  it('500: the sentence of an internal error is in the log only', async () => {
    const answer = await server.api('GET', '/v1/x-odd/thrown/bug');

    expectRefusal(answer, 500);
    expect(answer.text).not.toContain('hunter2');
    await until(
      async () => server.logs(),
      (logs) => logs.includes('hunter2'),
    );
  });

  it('400: a pipe of a parameter keeps its sentence, and converts what it accepts', async () => {
    const refused = await server.api('GET', '/v1/x-odd/numbers/one');

    expectRefusal(refused, 400);
    expect(refused.json.error.message).toBe('Validation failed (numeric string is expected)');
    expect((await server.api('GET', '/v1/x-odd/numbers/7')).json).toEqual({ number: 7 });
  });

  it('418: a filter sends its own response for its own route', async () => {
    const { status, json } = await server.api('GET', '/v1/x-odd/teapot');

    expect({ status, json }).toEqual({ status: 418, json: { statusCode: 418, message: 'I am a teapot.' } });
  });

  it("403: a guard that returns false has the type `forbidden`, while a key's scope has `insufficient_scope`", async () => {
    const { status, json } = await server.api('GET', '/v1/x-odd/never');

    expect(status).toBe(403);
    expect(json.error).toMatchObject({ type: 'forbidden', message: 'Forbidden resource' });
  });

  it("403: a global guard also protects Posthorn's routes, and changes nothing else", async () => {
    const before = (await server.api('GET', '/v1/org')).json;

    const refused = await server.api('PATCH', '/v1/org', { name: 'Closed' }, { 'x-closed': '1' });
    const changed = await server.api('PATCH', '/v1/org', { name: 'Open' });

    expect(refused.status).toBe(403);
    expect(refused.json.error).toMatchObject({ type: 'forbidden', message: 'Closed on Sundays.' });
    expect(before.name).not.toBe('Open');
    expect([changed.status, changed.json.name]).toEqual([200, 'Open']);
  });

  it('401: an authenticator that returns no id of an organization is named in one line of the log', async () => {
    const answer = await server.api('GET', '/v1/org', undefined, { authorization: 'Bearer acme' });

    expectRefusal(answer, 401);
    const lines = await until(
      async () =>
        server
          .logs()
          .split('\n')
          .filter((line) => line.includes('OddTokens')),
      (found) => found.length > 0,
    );
    expect(lines).toEqual([
      expect.stringContaining('returned the organization \\"acme\\", which is not an id: return `org_…`'),
    ]);
  });

  it('422: the list of types has the type of the extension once', async () => {
    const { json } = await server.api('POST', '/v1/destinations', { name: 'A', type: 'fax' });

    expect(json.error.message).toMatch(/^type: must be one of /);
    expect(json.error.message.match(/\bkafka\b/g)).toEqual(['kafka']);
  });

  it.each([
    [
      'APP_PIPE',
      '@UsePipes',
      'OddModule',
      'Module({ providers: [{ provide: APP_PIPE, useClass: ValidationPipe }] })(OddModule);',
    ],
    [
      'APP_FILTER',
      '@UseFilters',
      'OddModule',
      'Module({ providers: [{ provide: APP_FILTER, useClass: AllFilter }] })(OddModule);',
    ],
    [
      'APP_INTERCEPTOR',
      '@UseInterceptors',
      'Inner',
      'Module({ providers: [{ provide: APP_INTERCEPTOR, useClass: WrapInterceptor }] })(Inner);\nModule({ imports: [Inner] })(OddModule);',
    ],
    [
      'APP_PIPE',
      '@UsePipes',
      'Inner',
      'Module({ imports: [{ module: Inner, providers: [{ provide: APP_PIPE, useClass: ValidationPipe, scope: Scope.REQUEST }] }] })(OddModule);',
    ],
  ])(
    'the start fails with one line for %s (use %s) in %s',
    async (token, replacement, module, code) => {
      const file = written(`${module}-${token}.js`, enhancing(code));

      const start = startServer({ ...server.env, EXTENSIONS: file });

      await expect(start).rejects.toThrow(
        `\nPosthorn did not start: The extension odd (${file}) provides ${token} in ${module}, which would also apply to ` +
          `Posthorn's routes: use ${replacement} on its own controllers.\n`,
      );
    },
    60_000,
  );

  it('a dynamic module can be the default export', async () => {
    const file = written(
      'dynamic.js',
      `
import { Module } from '@nestjs/common';
class Audit { onModuleInit() { console.log('The audit writes to ' + this.file); } }
class AuditModule { static register({ file }) { return { module: AuditModule, providers: [{ provide: Audit, useFactory: () => Object.assign(new Audit(), { file }) }] }; } }
Module({})(AuditModule);
export default AuditModule.register({ file: 'audit.log' });
`,
    );

    const other = await startServer({ ...server.env, EXTENSIONS: file });
    await other.stop();

    expect(other.logs()).toContain('The audit writes to audit.log\n');
  });
});
