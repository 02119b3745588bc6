import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { HTTP_CODE_METADATA, INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import { getMetadataStorage } from 'class-validator';
import { MailParser } from 'mailparser';
import SMTPConnection from 'nodemailer/lib/smtp-connection';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { DataSource } from 'typeorm';
import { ROOT } from './source-tree.js';

const require = createRequire(`${ROOT}/package.json`);
const { dependencies } = require('./package.json') as { dependencies: Record<string, string> };

/** Private parts of packages that Posthorn uses. The title of each test names the only file that uses the part. */
describe('private parts of libraries', () => {
  it.each([
    '@nestjs/common',
    '@nestjs/core',
    'class-transformer',
    'class-validator',
    'mailauth',
    'mailparser',
    'nodemailer',
    'pg',
    'smtp-server',
    'typeorm',
  ])('%s: only patch releases are accepted', (name) => {
    expect(dependencies[name]).toMatch(/^~\d/);
  });

  it('Nest stores the metadata of routes under the known keys (src/http/routes.ts, src/http/audit.ts)', () => {
    expect([HTTP_CODE_METADATA, INTERCEPTORS_METADATA]).toEqual(['__httpCode__', '__interceptors__']);
    expect([METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA]).toEqual(['method', 'path', '__routeArguments__']);
    expect([RouteParamtypes.BODY, RouteParamtypes.QUERY, RouteParamtypes.PARAM]).toEqual([3, 4, 5]);
  });

  it('class-validator lists classes in `validationMetadatas` of its storage (src/http/validation-schemas.ts)', () => {
    const { validationMetadatas } = getMetadataStorage() as unknown as { validationMetadatas: unknown };

    expect(validationMetadatas).toBeInstanceOf(Map);
  });

  it('class-validator collects promises in `awaitingPromises` of the executor (src/http/decorator-check.ts)', () => {
    const file = 'class-validator/cjs/validation/ValidationExecutor.js';
    const { ValidationExecutor } = require(file) as { ValidationExecutor: new (validator: null) => object };

    expect(new ValidationExecutor(null)).toMatchObject({
      awaitingPromises: [],
      execute: expect.any(Function),
      stripEmptyErrors: expect.any(Function),
    });
    expect(readFileSync(require.resolve(file), 'utf8')).not.toContain('this.validator.');
  });

  it('TypeORM keeps the pool of its PostgreSQL driver in `master` (src/kernel/database/database.ts)', () => {
    const { driver } = new DataSource({ type: 'postgres', url: 'postgres://localhost/none' });

    expect('master' in driver || 'connect' in driver).toBe(true);
    expect(readFileSync(require.resolve('typeorm/driver/postgres/PostgresDriver.js'), 'utf8')).toContain(
      'this.master = await this.createPool(',
    );
  });

  it('a query runner of TypeORM uses `connect`, and savepoints inside a transaction (src/kernel/database/joined-data-source.ts)', () => {
    const runner = new DataSource({ type: 'postgres', url: 'postgres://localhost/none' }).createQueryRunner();

    expect(runner).toMatchObject({ connect: expect.any(Function), isTransactionActive: false, transactionDepth: 0 });
    const source = readFileSync(require.resolve('typeorm/driver/postgres/PostgresQueryRunner.js'), 'utf8');
    expect(source).toContain('const databaseConnection = await this.connect();');
    expect(source).toContain('if (this.transactionDepth === 0) {');
  });

  it('class-transformer keeps its metadata in maps of one object (src/bootstrap/transformer-metadata.ts)', () => {
    const { defaultMetadataStorage: storage } = require('class-transformer/cjs/storage.js') as Record<string, object>;

    expect(Object.values(storage as object).length).toBeGreaterThan(3);
    expect(Object.values(storage as object).every((each) => each instanceof Map)).toBe(true);
  });

  it('Nest adds a unique id to the tokens of global enhancers (src/bootstrap/global-enhancers.ts)', () => {
    const scanner = path.join(ROOT, 'node_modules/@nestjs/core/scanner.js');

    expect(readFileSync(scanner, 'utf8')).toContain('const providerToken = `${type} (UUID: ${uuid})`;');
  });

  it('pg calls the handlers of a submitted query (src/kernel/database/pipelined-transaction.ts)', () => {
    const { prototype } = pg.Client as unknown as { prototype: Record<string, unknown> };

    for (const name of [
      '_handleReadyForQuery',
      '_handleRowDescription',
      '_handleDataRow',
      '_handleCommandComplete',
      '_handleErrorMessage',
      '_pulseQueryQueue',
    ])
      expect([name, typeof prototype[name]]).toEqual([name, 'function']);
  });

  it('Swagger UI does not normalize a document with `$$normalized` (src/http/docs.ts)', () => {
    const bundle = require
      .resolve('swagger-ui-dist/package.json')
      .replace('package.json', 'static/swagger-ui-bundle.js');

    expect(readFileSync(bundle, 'utf8')).toMatch(
      /name:"openapi-3-1-apidom",match:\w+=>isOpenAPI31\(\w+\),normalize\(\w+\)\{if\([^{}]+&&!\w+\.\$\$normalized\)/,
    );
  });

  it('nodemailer sends commands with `_sendCommand` and lists `_supportedExtensions` (src/mail/smtp-utf8.ts)', () => {
    const connection = new SMTPConnection() as unknown as Record<string, unknown>;

    expect([typeof connection['_sendCommand'], connection['_supportedExtensions']]).toEqual(['function', []]);
  });

  it('smtp-server passes each line to `_onCommand` of a connection (src/smtp/bounded-server.ts)', () => {
    const { SMTPConnection } = require('smtp-server/lib/smtp-connection.js') as {
      SMTPConnection: { prototype: Record<string, unknown> };
    };

    expect(typeof SMTPConnection.prototype['_onCommand']).toBe('function');
    expect(typeof SMTPServer.prototype).toBe('object');
  });

  it('MailParser handles each piece in `processChunk`, decodes headers in `processHeaders`, and treats each part beyond `textTypes` as bytes (src/modules/inbox/reading/mime-parts.ts)', () => {
    const parser = new MailParser() as unknown as Record<string, unknown>;

    expect([typeof parser['processChunk'], typeof parser['processHeaders'], parser['textTypes']]).toEqual([
      'function',
      'function',
      ['text/plain', 'text/html', 'message/delivery-status'],
    ]);
    const source = readFileSync(require.resolve('mailparser').replace('/cjs/index.js', '/esm/mail-parser.js'), 'utf8');
    expect(source).toContain('newNode.isAttachment = !this.textTypes.includes(contentType)');
    expect(source).toContain('let decoder = node.getDecoder();');
    expect(source).toContain('headers: this.processHeaders(node.headers.getList()),');
  });

  it('MailParser splits messages with `splitter`, which finds delimiters in `checkBoundary` (src/modules/inbox/reading/mime-parts.ts)', () => {
    const { splitter } = new MailParser() as unknown as { splitter: object };

    expect(splitter).toMatchObject({
      checkBoundary: expect.any(Function),
      push: expect.any(Function),
      node: { headers: false, _headerlen: 0, parseHeaders: expect.any(Function), getHeaders: expect.any(Function) },
    });
  });

  it('mailauth has its checks in separate files (src/modules/inbox/reading/mailauth-internals.ts)', () => {
    const parts = {
      spf: 'spf/index.js',
      evaluateDmarc: 'dmarc/index.js',
      dkimVerify: 'dkim/verify.js',
      arc: 'arc/index.js',
    };

    for (const [name, file] of Object.entries(parts))
      expect([name, typeof (require(`mailauth/lib/${file}`) as Record<string, unknown>)[name]]).toEqual([
        name,
        'function',
      ]);
  });
});
