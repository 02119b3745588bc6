import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../durability/processes.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { callAccess, callOperator } from './access-calls.js';
import { type AuditEntry, AuditWitness } from './audit-witness.js';
import { callEventTypes } from './event-type-calls.js';
import { callEmails, callInbox, callReports, callTemplates, callTopics } from './mail-calls.js';
import { callAgents } from './oauth-calls.js';
import {
  Conformance,
  declaredRoutes,
  type OpenApi,
  propertiesOf,
  responseOf,
  routesOf,
  type Schema,
} from './openapi-document.js';
import { callPortal } from './portal-calls.js';

const ROOT = path.resolve(import.meta.dirname, '..', '..');
const EXAMPLES = ['example', 'examples', 'default', 'enum', 'const'];

const OPERATOR_KEY = 'the-key-of-the-operator-in-this-suite';

let server: PosthornServer;
let smtpPort: number;
let receiver: Receiver;
let document: OpenApi;
let conformance: Conformance;
const witness = new AuditWitness();

beforeAll(async () => {
  smtpPort = await freePort();
  [server, receiver] = await Promise.all([
    startServer({ OPERATOR_KEY, SMTP_PORT: String(smtpPort), SES_TOPICS: 'arn:aws:sns:eu-west-1:123456789012:mail' }),
    startReceiver((request) => ({ status: request.path === '/broken' ? 500 : 200 })),
  ]);
  document = (await server.api('GET', '/openapi.json')).json as OpenApi;
  conformance = new Conformance(document);
});

afterAll(async () => {
  await receiver?.close();
  await server?.stop();
});

const allProperties = (): [string, Schema][] =>
  Object.entries(document.components.schemas).flatMap(([name, schema]) => propertiesOf(name, schema));

/** Returns whether a schema consists of named schemas, which have their own descriptions. */
function refers({ $ref, allOf, anyOf, oneOf, items }: Schema): boolean {
  return (
    $ref !== undefined || [...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? []), ...(items ? [items] : [])].some(refers)
  );
}

const hasExample = (thing: Record<string, unknown>): boolean => EXAMPLES.some((keyword) => keyword in thing);

describe('the OpenAPI document', () => {
  it("passes Redocly's recommended rules without an error or a warning", () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'posthorn-openapi-'));
    writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(document));
    writeFileSync(path.join(folder, 'redocly.yaml'), 'extends: [recommended]\n');
    const cli = path.join(ROOT, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');

    const run = spawnSync(
      process.execPath,
      [cli, 'lint', 'openapi.json', '--config', 'redocly.yaml', '--format', 'json'],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: folder, REDOCLY_TELEMETRY: 'off', CI: 'true' },
      },
    );
    rmSync(folder, { recursive: true });

    const report = JSON.parse(run.stdout) as { problems: { ruleId: string; message: string }[] };
    expect(report.problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    expect(run.status).toBe(0);
  });

  it('has an operation for every route, and no other', () => {
    expect(
      routesOf(document)
        .map(({ method, path: at }) => `${method} ${at}`)
        .sort(),
    ).toEqual(declaredRoutes(ROOT).sort());
  });

  it('has for every operation a unique name, a summary, a description and a section with a description', () => {
    const sections = new Map(document.tags.map(({ name, description }) => [name, description]));
    const faults = routesOf(document).flatMap(({ operation }) => {
      const said = (operation.tags ?? []).map((tag) => sections.get(tag) ?? '');
      const complete = operation.operationId && operation.summary && operation.tags?.length === 1;
      return complete && said.every((text) => text.length > 20)
        ? []
        : [`${operation.operationId} (${operation.tags?.join()})`];
    });
    const ids = routesOf(document).map(({ operation }) => operation.operationId);

    expect(new Set(ids).size).toBe(ids.length);
    expect(faults).toEqual([]);
    // A section without a defined position would come after Health, which must be the last section.
    expect(document.tags.at(-1)?.name).toBe('Health');
  });

  it('documents the errors of every operation in the error envelope, those of OAuth in the OAuth format, those of email and domains with the fields of the resend package, and those of pages as pages', () => {
    const faults = routesOf(document).flatMap(({ method, path: at, operation }) => {
      const isPage = `${method} ${at}` === 'GET /oauth/authorize';
      const own = at.startsWith('/oauth/')
        ? 'OAuthError'
        : /^\/v1\/(?:domains|emails|suppressions|templates|topics)(?:\/|$)/.test(at)
          ? 'EmailError'
          : 'Error';
      const schemaOf = (status: string): string => `#/components/schemas/${status === '431' ? 'Error' : own}`;
      const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
      const foreign = errors.filter(([status, each]) => {
        const { content } = responseOf(document, each);
        return isPage && status !== '431'
          ? content?.['text/html; charset=utf-8'] === undefined
          : content?.['application/json']?.schema?.$ref !== schemaOf(status);
      });
      const scoped = operation.security === undefined || operation.security.length > 0;
      const missing = ['400', '431', '500', '503', ...(scoped ? ['401', '403', '429'] : [])].filter(
        (status) => !operation.responses[status],
      );
      return [
        ...foreign.map(([status]) => `${operation.operationId} ${status}: not the envelope`),
        ...missing.map((status) => `${operation.operationId} lacks ${status}`),
      ];
    });

    expect(faults).toEqual([]);
  });

  it('describes every field and every parameter', () => {
    const fields = allProperties()
      .filter(([, schema]) => !schema.description && !schema.$ref)
      .map(([name]) => name);
    const parameters = routesOf(document).flatMap(({ operation }) =>
      (operation.parameters ?? [])
        .filter(({ description = '' }) => description.length < 5)
        .map(({ name }) => `${operation.operationId} ${name}`),
    );

    expect([...fields, ...parameters]).toEqual([]);
  });

  it('gives an example of every field and every parameter', () => {
    const fields = allProperties()
      .filter(([, schema]) => !hasExample(schema) && !schema.properties && !refers(schema))
      .map(([name]) => name);
    const parameters = routesOf(document).flatMap(({ operation }) =>
      (operation.parameters ?? [])
        .filter((each) => !hasExample(each) && !hasExample(each.schema ?? {}))
        .map(({ name }) => `${operation.operationId} ${name}`),
    );

    expect([...fields, ...parameters]).toEqual([]);
  });

  it('has only examples that are valid under their schemas', () => {
    const faults = allProperties()
      .filter(([, schema]) => 'example' in schema && !refers(schema))
      .flatMap(([name, schema]) =>
        conformance.exampleFaults(schema, schema['example']).map((fault) => `${name}: ${fault}`),
      );

    expect(faults).toEqual([]);
  });
});

describe('answers of the service', () => {
  /** Makes one call, compares it with the document, and returns the response. */
  async function call(
    status: number,
    method: string,
    url: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer> {
    const answer = await server.api(method, url, body, headers);
    expect([method, url, answer.status, answer.text]).toEqual([method, url, status, answer.text]);
    expect(conformance.faults(method, url, body, answer)).toEqual([]);
    witness.saw({ route: conformance.find(method, url), url, body, headers, answer });
    return answer;
  }

  /** Repeats the call until `isWanted` accepts the answer. Only the last answer is compared. */
  async function until(url: string, isWanted: (json: ApiAnswer['json']) => boolean): Promise<void> {
    for (let tries = 0; tries < 200 && !isWanted((await server.api('GET', url)).json); tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(isWanted((await call(200, 'GET', url)).json)).toBe(true);
  }

  const destination = (url: string, more: object = {}): object => ({
    name: 'A target',
    type: 'https',
    url: receiver.url + url,
    ...more,
  });

  it('conforms: health, organization and signing secret', async () => {
    await call(200, 'GET', '/health/live');
    await call(200, 'GET', '/health/ready');
    await call(200, 'GET', '/v1/org');
    await call(200, 'PATCH', '/v1/org', { name: 'Acme', retention_days: 14, system_destination: null });
    await call(200, 'GET', '/v1/system-events');
    await call(200, 'GET', '/v1/signing-secret');
    await call(200, 'POST', '/v1/signing-secret/rotate', { grace_seconds: 60 });
  });

  it('conforms: keys', async () => {
    const key = (
      await call(201, 'POST', '/v1/keys', { name: 'One', scope: 'write', expires_at: '2100-01-01T00:00:00.000Z' })
    ).json;
    await call(201, 'POST', '/v1/keys', { name: 'Two', scope: 'read', environment: 'test' });
    const page = (await call(200, 'GET', '/v1/keys?limit=1')).json;
    await call(200, 'GET', `/v1/keys?limit=1&cursor=${page.next_cursor}`);
    await call(200, 'GET', `/v1/keys/${key.id}`);
    const next = (await call(200, 'POST', `/v1/keys/${key.id}/rotate`, {})).json;
    await call(204, 'DELETE', `/v1/keys/${next.id}`);
    await call(200, 'GET', `/v1/keys/${next.id}`);
  });

  it('conforms: members, sessions and the audit log', () => callAccess(call, server));

  it("conforms: customers' portals", () => callPortal(call, receiver.url));

  it('conforms: agents and their sign-in', () =>
    callAgents(call, async (url, cookie) => void (await call(200, 'GET', url, undefined, { cookie })), server));

  it("conforms: the operator's organizations", () => callOperator(call, OPERATOR_KEY));

  it('emails and suppressions', () => callEmails(call));

  it('conforms: templates', () => callTemplates(call));

  it('topics', () => callTopics(call));

  it('conforms: aliases and received mail', () => callInbox(call, until, server, smtpPort));

  it('conforms: reports about mail', () => callReports(call, until, server));

  it('conforms: domains', async () => {
    const { id } = (
      await call(201, 'POST', '/v1/domains', {
        domain: 'mail.customer.example',
        kind: 'email',
        acknowledge_mx_conflict: true,
      })
    ).json;
    await call(409, 'POST', '/v1/domains', { domain: 'mail.customer.example', kind: 'email-send' });
    await call(422, 'POST', '/v1/domains', { domain: 'localhost', kind: 'webhook' });
    await call(201, 'POST', '/v1/domains', { domain: 'hooks.customer.example', kind: 'webhook' });
    const page = (await call(200, 'GET', '/v1/domains?limit=1')).json;
    await call(200, 'GET', `/v1/domains?limit=1&cursor=${page.next_cursor}`);
    await call(200, 'GET', `/v1/domains/${id}`);
    await call(200, 'PATCH', `/v1/domains/${id}`, { kind: 'email-send' });
    await call(200, 'POST', `/v1/domains/${id}/verify`);
    await call(200, 'GET', `/v1/domains/${id}/reputation`);
    await call(200, 'POST', `/v1/domains/${id}/resume`);
    await call(409, 'POST', `/v1/domains/${id}/dkim/rotate`, {});
    const own = (
      await call(201, 'POST', '/v1/domains', {
        domain: 'own.customer.example',
        kind: 'email-send',
        dkim: { mode: 'domain' },
      })
    ).json.id;
    await call(200, 'POST', `/v1/domains/${own}/dkim/rotate`, { grace_seconds: 0 });
    await call(204, 'DELETE', `/v1/domains/${id}`);
    await call(404, 'GET', `/v1/domains/${id}`);
  });

  it('conforms: secrets', async () => {
    const { id } = (
      await call(201, 'POST', '/v1/secrets', { name: 'TOKEN', value: 'tok_1_of_the_suite', description: 'The CRM' })
    ).json;
    await call(201, 'POST', '/v1/secrets', { name: 'OTHER', value: 'tok_2_of_the_suite' });
    const page = (await call(200, 'GET', '/v1/secrets?limit=1')).json;
    await call(200, 'GET', `/v1/secrets?limit=1&cursor=${page.next_cursor}`);
    await call(200, 'PUT', `/v1/secrets/${id}`, { value: 'tok_3_of_the_suite' });
    const user = (
      await call(201, 'POST', '/v1/destinations', destination('/ok', { headers: { 'x-a': '{{secrets.TOKEN}}' } }))
    ).json.id;
    await call(200, 'GET', `/v1/secrets/${id}`);
    await call(409, 'DELETE', `/v1/secrets/${id}`);
    await call(204, 'DELETE', `/v1/destinations/${user}`);
    await call(204, 'DELETE', `/v1/secrets/${id}`);
  });

  it('conforms: destinations', async () => {
    await call(200, 'POST', '/v1/destinations/check', { type: 'https', url: `${receiver.url}/ok` });
    const { id } = (
      await call(
        201,
        'POST',
        '/v1/destinations',
        destination('/ok', {
          config: { circuit_breaker: { failure_threshold: 3 } },
          headers: { 'x-a': 'a-header-of-the-suite' },
          timeout_ms: 5_000,
          retry: { max_attempts: 3, schedule: [0, 5] },
          rate_limit: { per_second: 100 },
        }),
      )
    ).json;
    await call(201, 'POST', '/v1/destinations', destination('/plain'));
    const page = (await call(200, 'GET', '/v1/destinations?limit=1')).json;
    await call(200, 'GET', `/v1/destinations?limit=1&cursor=${page.next_cursor}`);
    await call(200, 'GET', `/v1/destinations/${id}`);
    await call(200, 'PATCH', `/v1/destinations/${id}`, { name: 'Another', rate_limit: null, retry: null });
    await call(200, 'POST', `/v1/destinations/${id}/validate`);
    await call(200, 'GET', `/v1/destinations/${id}/secret`);
    await call(200, 'POST', `/v1/destinations/${id}/secret/rotate`, { grace_seconds: 60 });
    await call(200, 'POST', `/v1/destinations/${id}/test`);
    await call(200, 'PATCH', `/v1/destinations/${id}`, { status: 'disabled' });
    await call(200, 'GET', `/v1/destinations/${id}`);
    await call(204, 'DELETE', `/v1/destinations/${id}`);
  });

  it('conforms: sends, events, replay and redrive', async () => {
    const sends = {
      event_type: 'invoice.paid',
      payload: { amount: 9007199254740991 },
      headers: { 'x-tenant': 'a-tenant-of-the-suite' },
    };
    const good = (await call(201, 'POST', '/v1/destinations', destination('/ok'))).json.id;
    const dead = (
      await call(201, 'POST', '/v1/destinations', destination('/ok', { retry: { max_attempts: 1, schedule: [0] } }))
    ).json.id;
    const slow = (
      await call(
        201,
        'POST',
        '/v1/destinations',
        destination('/ok', { retry: { max_attempts: 2, schedule: [0, 3600] } }),
      )
    ).json.id;
    for (const id of [dead, slow])
      await call(200, 'PATCH', `/v1/destinations/${id}`, { url: `${receiver.url}/broken` });

    const sent = (
      await call(202, 'POST', '/v1/send', { ...sends, destination: good }, { 'idempotency-key': randomUUID() })
    ).json.message_id;
    const adHoc = (await call(202, 'POST', '/v1/send', { ...sends, destination: `${receiver.url}/ad-hoc` })).json
      .message_id;
    const lost = (await call(202, 'POST', '/v1/send', { ...sends, destination: dead })).json.message_id;
    const waiting = (await call(202, 'POST', '/v1/send', { ...sends, destination: slow })).json.message_id;
    await until(`/v1/events/${sent}`, (json) => json.status === 'delivered');
    await until(`/v1/events/${adHoc}`, (json) => json.status === 'delivered');
    await until(`/v1/events/${lost}`, (json) => json.status === 'dlq');
    await until(`/v1/events/${waiting}`, (json) => json.attempts.length === 1);
    await call(200, 'GET', `/v1/events/${sent}/payload`);
    await call(200, 'GET', `/v1/events/${lost}/exchanges`);
    await call(200, 'POST', `/v1/events/${lost}/sign`);
    await call(200, 'GET', '/v1/events/stream?follow=false');
    const page = (await call(200, 'GET', '/v1/events?limit=2')).json;
    await call(200, 'GET', `/v1/events?limit=2&cursor=${page.next_cursor}`);
    await call(200, 'GET', `/v1/events?status=dlq,failed&direction=outbound&error=5xx&q=${lost}`);
    await call(200, 'GET', '/v1/events/count?status=dlq&status=failed');
    await call(
      200,
      'GET',
      `/v1/events?status=dlq&endpoint=${dead}&event_type=invoice.paid&message_id=${lost}&since=2026-01-01T00:00:00Z`,
    );
    await call(200, 'GET', `/v1/events?destination=${dead}&application=nobody`);
    await call(202, 'POST', `/v1/events/${sent}/replay`, { destinations: [good] });
    await until(`/v1/events/${sent}`, (json) => json.deliveries.length === 2 && json.attempts.length === 2);
    await call(202, 'POST', '/v1/dlq/redrive', { endpoint: dead, since: '2026-01-01T00:00:00Z' });
    await call(200, 'POST', '/v1/replays', {
      action: 'recover',
      filter: { status: ['dlq', 'retrying'], since: '2026-01-01T00:00:00Z' },
      dry_run: true,
    });
    await until(
      `/v1/replays/${(await call(202, 'POST', '/v1/replays', { action: 'cancel', filter: { destination: slow }, limit: 10 })).json.id}`,
      (json) => json.cancelled === 1,
    );
  });

  it('conforms: event types', () => callEventTypes(call));

  it('conforms: endpoints', async () => {
    const pull = (await call(201, 'POST', '/v1/destinations', { name: 'Pull', type: 'pull' })).json.id;
    const other = (await call(201, 'POST', '/v1/destinations', { name: 'Pull too', type: 'pull' })).json.id;
    const { id, routes } = (
      await call(201, 'POST', '/v1/endpoints', {
        slug: 'everything',
        preset: 'stripe',
        verification: 'hmac-sha256',
        verificationConfig: { header: 'x-acme-signature', timestampHeader: 'x-at' },
        routes: [{ destination: pull, filter: { path: '$.type', op: 'eq', value: 'invoice.paid' } }],
        responseRules: {
          rules: [{ when: { not: { type: 'method', op: 'eq', value: 'POST' } }, respond: { status: 405 } }],
          default: { body: 'ok' },
        },
        responseProxy: { target: 'managed', code: 'export default () => ({ status: 200 })' },
        transform: { engine: 'url', url: `${receiver.url}/transform`, failMode: 'open' },
        response: {
          type: 'meta-challenge',
          verifyToken: 'hidden-from-the-log',
          headers: { 'x-a': 'a-header-of-the-suite' },
        },
      })
    ).json;
    await call(201, 'POST', '/v1/endpoints', { path: 'plain' });
    const page = (await call(200, 'GET', '/v1/endpoints?limit=1')).json;
    await call(200, 'GET', `/v1/endpoints?limit=1&cursor=${page.next_cursor}`);
    await call(200, 'GET', `/v1/endpoints/${id}`);
    await call(204, 'PUT', `/v1/endpoints/${id}/secret`, { secret: 'hidden-from-the-log', grace_seconds: 60 });
    await call(200, 'GET', `/v1/endpoints/${id}/routes`);
    const added = (await call(201, 'POST', `/v1/endpoints/${id}/routes`, { destination: other })).json;
    await call(200, 'PATCH', `/v1/endpoints/${id}/routes/${routes[0].id}`, { filter: null });
    await call(204, 'DELETE', `/v1/endpoints/${id}/routes/${added.id}`);
    await call(200, 'PATCH', `/v1/endpoints/${id}`, {
      preset: null,
      response: null,
      verificationConfig: null,
      status: 'paused',
      destinations: [pull],
    });
    await call(200, 'GET', '/v1/ingest-domains');
    await call(204, 'DELETE', `/v1/endpoints/${id}`);
  });

  it('conforms: receiving, raw requests, range replay, pull and metrics', async () => {
    const pull = (await call(201, 'POST', '/v1/destinations', { name: 'Pulled', type: 'pull' })).json.id;
    const { id, url } = (
      await call(201, 'POST', '/v1/endpoints', { slug: 'received', preset: 'github', destinations: [pull] })
    ).json;
    await call(204, 'PUT', `/v1/endpoints/${id}/secret`, { secret: 'hidden-from-the-log' });
    await call(200, 'POST', `/v1/endpoints/${id}/test`);
    await fetch(url, { method: 'PUT', body: Buffer.from([0, 255]) });
    const requests = (await call(200, 'GET', `/v1/endpoints/${id}/requests?limit=1`)).json;
    await call(200, 'GET', `/v1/endpoints/${id}/requests?limit=1&cursor=${requests.next_cursor}`);
    await call(200, 'GET', `/v1/endpoints/${id}/requests/${requests.data[0].id}`);
    await call(202, 'POST', `/v1/endpoints/${id}/requests/${requests.data[0].id}/replay`);
    await call(200, 'POST', `/v1/endpoints/${id}/trial`, {
      request: requests.data[0].id,
      transform: { engine: 'managed', code: 'export default (event) => event' },
      routes: [{ filter: null }],
    });
    await call(200, 'GET', '/v1/presets');
    await call(200, 'GET', `/v1/endpoints/${id}/requests?status=quarantined&method=PUT&since=2026-01-01T00:00:00Z`);
    await call(200, 'POST', `/v1/endpoints/${id}/requests/replay`, { status: 'parked', dry_run: true });
    const release = (
      await call(202, 'POST', `/v1/endpoints/${id}/requests/replay`, {
        status: 'quarantined',
        since: '2026-01-01T00:00:00Z',
      })
    ).json.id;
    await until(`/v1/replays/${release}`, (json) => json.state === 'completed');
    await call(200, 'GET', `/v1/events/${requests.data[0].event_id}`);
    await call(200, 'GET', `/v1/events?endpoint=${id}&status=quarantined`);
    await call(200, 'POST', `/v1/endpoints/${id}/replay`, { dry_run: true });
    const job = (
      await call(202, 'POST', `/v1/endpoints/${id}/replay`, { since: '2026-01-01T00:00:00Z', destinations: [pull] })
    ).json.id;
    await call(200, 'POST', `/v1/replays/${job}/stop`);
    await call(200, 'GET', `/v1/replays/${job}`);
    await call(200, 'GET', '/v1/replays?limit=1');
    // Waits, because another suite's open transaction hides new items until the transaction ends.
    await until(`/v1/pull/${pull}?limit=1`, (json) => json.data.length === 1);
    const { next_cursor: cursor } = (await call(200, 'GET', `/v1/pull/${pull}?limit=1`)).json;
    await call(200, 'POST', `/v1/pull/${pull}/ack`, { cursor });
    const positions = (await call(200, 'GET', '/v1/pull?limit=1')).json;
    await call(200, 'GET', `/v1/pull?limit=1&cursor=${positions.next_cursor}`);
    await call(200, 'GET', `/v1/metrics?key=${id}`);
  });

  it('conforms: applications, their endpoints and fan-out', async () => {
    await call(201, 'POST', '/v1/app', { uid: 'acme', metadata: { plan: 'pro' } });
    await call(200, 'POST', '/v1/app?get_if_exists=true', { uid: 'acme' });
    await call(409, 'POST', '/v1/app', { uid: 'acme' });
    await call(201, 'POST', '/v1/app', { name: 'Other' });
    const page = (await call(200, 'GET', '/v1/app?limit=1')).json;
    await call(200, 'GET', `/v1/app?limit=1&cursor=${page.next_cursor}`);
    await call(200, 'PATCH', '/v1/app/acme', { name: 'Acme', metadata: null });
    const pull = (await call(201, 'POST', '/v1/destinations', { name: 'Queue', type: 'pull' })).json.id;
    await call(201, 'POST', '/v1/app/acme/endpoints', { destination: pull, uid: 'queue' });
    const { id } = (
      await call(201, 'POST', '/v1/app/acme/endpoints', {
        url: `${receiver.url}/ok`,
        event_types: ['invoice.*'],
        channels: ['one'],
        filter: { path: '$.a', op: 'exists' },
        headers: { 'x-a': 'a-header-of-the-suite' },
        retry: { max_attempts: 2, schedule: [0, 5] },
        rate_limit: { per_second: 100 },
        asymmetric: true,
        legacy_signature: { header: 'X-Old', secret: 'hidden-from-the-log' },
        metadata: { a: 'b' },
        description: 'All',
      })
    ).json;
    const at = `/v1/app/acme/endpoints/${id}`;
    const endpoints = (await call(200, 'GET', '/v1/app/acme/endpoints?limit=1&status=active&event_type=invoice.paid'))
      .json;
    await call(
      200,
      'GET',
      `/v1/app/acme/endpoints?limit=1&status=active&event_type=invoice.paid&cursor=${endpoints.next_cursor}`,
    );
    await call(200, 'GET', '/v1/app/acme/endpoints/queue');
    await call(200, 'GET', `${at}/secret`);
    await call(409, 'GET', '/v1/app/acme/endpoints/queue/secret');
    await call(200, 'POST', `${at}/secret/rotate`, { grace_seconds: 60 });
    await call(200, 'POST', `${at}/test`);
    await call(200, 'POST', '/v1/app/acme/endpoints/queue/test', { event_type: 'invoice.paid' });
    await call(202, 'POST', '/v1/app/acme/event', {
      event_type: 'invoice.paid',
      channels: ['one'],
      payload: { a: 1 },
      headers: { 'x-a': 'a-header-of-the-suite' },
    });
    await until(`${at}/attempts?limit=1&status=delivered`, (json) => json.next_cursor !== null);
    await until(`${at}/stats`, (json) => json.delivered === 2);
    await call(200, 'GET', '/v1/app/acme/endpoints/queue/stats');
    const { data: messages } = (await call(200, 'GET', '/v1/app/acme/messages?limit=2')).json;
    await call(200, 'GET', `/v1/app/acme/messages/${messages[0].id}`);
    await call(202, 'POST', `/v1/app/acme/messages/${messages[0].id}/endpoints/${at.split('/').at(-1)}/resend`);
    await call(404, 'POST', `/v1/app/acme/messages/${messages[0].id}/endpoints/ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1/resend`);
    await call(200, 'PATCH', at, {
      status: 'disabled',
      disabled_reason: 'Asked for',
      filter: null,
      legacy_signature: null,
    });
    await call(200, 'GET', at);
    await call(204, 'DELETE', at);
    await call(200, 'GET', '/v1/app/acme');
    await call(204, 'DELETE', '/v1/app/acme');
  });

  it('conforms: recover, cancel and erase', async () => {
    const { id } = (
      await call(201, 'POST', '/v1/destinations', destination('/ok', { retry: { max_attempts: 1, schedule: [0] } }))
    ).json;
    await server.api('POST', '/v1/app', { uid: 'recovering', name: 'A customer' });
    const own = (await call(201, 'POST', '/v1/app/recovering/endpoints', { url: `${receiver.url}/ok` })).json.id;
    const sent = (await call(202, 'POST', '/v1/send', { event_type: 'a', payload: {}, destination: id })).json
      .message_id;
    const since = '2026-01-01T00:00:00Z';
    await call(202, 'POST', `/v1/destinations/${id}/recover`, { since, status: 'dlq', include_cancelled: true });
    await call(202, 'POST', `/v1/app/recovering/endpoints/${own}/recover`, { since, until: since });
    await call(200, 'POST', `/v1/destinations/${id}/cancel`, { event_type: 'a', until: since });
    await call(200, 'POST', `/v1/app/recovering/endpoints/${own}/cancel`);
    await call(200, 'POST', `/v1/events/${sent}/cancel`);
    await call(204, 'DELETE', `/v1/events/${sent}/payload`);
    await call(200, 'GET', `/v1/events/${sent}`);
    await call(409, 'POST', `/v1/events/${sent}/replay`);
    await call(202, 'POST', '/v1/app/recovering/recover', { since, status: 'failed' });
    await until('/v1/replays?limit=1&state=completed', (json) => json.data[0]?.endpoint?.startsWith('app_'));
    await call(202, 'POST', '/v1/app/recovering/replay', { since, until: since });
    await until('/v1/replays?limit=1&state=completed', (json) => json.data[0]?.kind === 'application');
    await call(200, 'POST', '/v1/app/recovering/erase', { dry_run: true });
    await until(
      `/v1/replays/${(await call(202, 'POST', '/v1/app/recovering/erase')).json.id}`,
      (json) => json.erased.endpoints === 1,
    );
    await call(200, 'GET', '/v1/metrics/applications?limit=1');
    await call(200, 'GET', '/v1/metrics/overview?range=7d&sparse=true');
    await call(200, 'GET', '/v1/metrics/targets?range=1h&limit=1');
    await call(200, 'GET', '/v1/attention');
    await call(200, 'GET', `/v1/names?id=${own}`);
    await call(200, 'GET', '/v1/app?search=rec&count=true');
    await call(200, 'GET', '/v1/endpoints?search=a&count=true');
    await call(200, 'GET', '/v1/destinations?search=a&status=active&circuit=closed&count=true');
  });

  it('conforms: every error in its envelope', async () => {
    const { key: reader } = (await call(201, 'POST', '/v1/keys', { name: 'Reader', scope: 'read' })).json;
    const ok = { destination: `${receiver.url}/ok`, event_type: 'a', payload: {} };
    const once = { 'idempotency-key': randomUUID() };

    await call(400, 'POST', '/v1/send', '{"destination":');
    await call(400, 'GET', '/v1/events?limit=1000');
    await call(400, 'GET', '/v1/events?cursor=x');
    await call(401, 'GET', '/v1/org', undefined, { authorization: 'Bearer ek_live_unknown' });
    await call(403, 'POST', '/v1/send', ok, { authorization: `Bearer ${reader}` });
    await call(404, 'GET', '/v1/events/evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1');
    await call(404, 'DELETE', '/v1/destinations/dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1');
    await call(202, 'POST', '/v1/send', ok, once);
    await call(202, 'POST', '/v1/send', ok, once);
    await call(409, 'POST', '/v1/send', { ...ok, event_type: 'b' }, once);
    await call(413, 'POST', '/v1/send', { ...ok, payload: { text: 'x'.repeat(1_100_000) } });
    await call(415, 'POST', '/v1/send', 'destination=x', { 'content-type': 'application/x-www-form-urlencoded' });
    await call(422, 'POST', '/v1/send', { ...ok, event_type: '' });
    await call(422, 'POST', '/v1/destinations', { name: 'x', type: 'https', url: 'http://127.0.0.1:1/' });
  });

  it('conforms: 429, with the time to wait', async () => {
    const limited = await startServer({ ...server.env, RATE_LIMIT_KEY: '1/60', SMTP_PORT: 'off' });
    try {
      await limited.api('GET', '/v1/org');
      const answer = await limited.api('GET', '/v1/org');

      expect(answer.status).toBe(429);
      expect(conformance.faults('GET', '/v1/org', undefined, answer)).toEqual([]);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await limited.stop();
    }
  });

  it('every operation of the document was compared, and every error that a caller can cause', () => {
    const succeeded = new Set(
      [...conformance.compared].filter((name) => / 2\d\d$/.test(name)).map((name) => name.split(' ')[0]),
    );
    const statuses = new Set(
      [...conformance.compared].map((name) => Number(name.split(' ')[1])).filter((status) => status >= 400),
    );

    const elsewhere = ['takeSesNotification'];
    expect([...succeeded, ...elsewhere].sort()).toEqual(
      routesOf(document)
        .map(({ operation }) => operation.operationId)
        .sort(),
    );
    expect([...statuses].sort()).toEqual([400, 401, 403, 404, 409, 413, 415, 422, 429]);
  });
});

describe('the audit log of all these calls', () => {
  let entries: AuditEntry[];
  let log: string;

  beforeAll(async () => {
    const exported = await server.api('GET', '/v1/audit/export');
    const ofOperator = await server.api('GET', '/v1/operator/audit?limit=100', undefined, {
      authorization: `Bearer ${OPERATOR_KEY}`,
    });
    log = exported.text + ofOperator.text;
    entries = [
      ...exported.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as AuditEntry),
      ...(ofOperator.json.data as AuditEntry[]),
    ];
  });

  it('every route that changes something was called successfully, except for those with a documented reason', () => {
    expect(witness.missing(routesOf(document))).toEqual([]);
    expect(witness.stale(routesOf(document))).toEqual([]);
  });

  it('one entry for each successful call and none for a rejected one: actor, address, action, before and after', async () => {
    const { data: keys } = (await server.api('GET', '/v1/keys?limit=100')).json;

    expect(witness.faults(entries, keys.at(-1).id)).toEqual([]);
  });

  it('no entry contains a secret that was sent or returned, nor the value of a header', () => {
    expect(witness.secrets().length).toBeGreaterThan(20);
    expect(witness.secrets()).toEqual(
      expect.arrayContaining([
        'hidden-from-the-log',
        'a-header-of-the-suite',
        'tok_3_of_the_suite',
        expect.stringMatching(/^whsec_/),
        expect.stringMatching(/^ek_/),
        expect.stringMatching(/^pt_/),
      ]),
    );
    expect(witness.secrets().filter((secret) => log.includes(secret))).toEqual([]);
  });
});
