import { randomBytes, randomUUID } from 'node:crypto';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as } from './answers.js';
import { until } from './polling.js';
import type { Sql, Targets } from './scene.js';
import { eventIn, expectStatus, openSql, startTargets, WITHIN_MS } from './scene.js';

interface Secret {
  what: string;
  text: string;
}

describe('a service in use', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  const secrets: Secret[] = [];
  /** All responses, except those whose purpose is to return a secret. */
  const answers: { call: string; text: string }[] = [];

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({ LOG_LEVEL: 'trace' });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  /** Records a unique value and returns it. The test searches for all recorded values at the end. */
  function keep(what: string, text = `${what.replaceAll(/\W/g, '')}${randomBytes(9).toString('hex')}`): string {
    secrets.push({ what, text });
    return text;
  }

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer> {
    const answer = await server.api(method, path, body, headers);
    answers.push({
      call: `${method} ${path} ${answer.status}`,
      text: answer.text + JSON.stringify([...answer.headers]),
    });
    return answer;
  }

  /** Makes a call whose response contains a secret. Records the secret and returns it. */
  async function shown(what: string, method: string, path: string, body?: unknown): Promise<string> {
    const { json } = await server.api(method, path, body);
    const text = String(json.secret ?? json.key);
    return keep(what, text.replace(/^(whsec_|ek_(live|test)_)/, '')) && text;
  }

  const status = async (expected: number, ...given: Parameters<typeof call>): Promise<ApiAnswer> =>
    expectStatus(await call(...given), expected);

  it('reveals no secret in responses, log lines or metrics, and stores none in plain text', async () => {
    const [value, nextValue, brought] = [
      keep('secret value'),
      keep('next value'),
      Buffer.from(keep('brought secret').slice(0, 30)).toString('base64'),
    ];
    keep('brought secret in base64', brought);
    keep('master key', server.env['MASTER_KEY']);
    keep('bootstrap key', server.apiKey.replace(/^ek_live_/, ''));
    const credentials = { accessKeyId: keep('access key id'), secretAccessKey: keep('secret access key') };
    const target = targets.open((_post, index) => ({ status: index === 0 ? 500 : 200 }));
    const secret = (
      await status(201, 'POST', '/v1/secrets', { name: 'TOKEN', value }, { 'idempotency-key': randomUUID() })
    ).json;
    const path = `/v1/secrets/${secret.id}`;
    const destination = (
      await status(
        201,
        'POST',
        '/v1/destinations',
        {
          name: 'A',
          type: 'https',
          url: target.url,
          headers: { authorization: 'Bearer {{secrets.TOKEN}}' },
          secret: `whsec_${brought}`,
          asymmetric: true,
          legacy_signature: { header: 'X-Old', secret: keep('legacy secret') },
          retry: { schedule: [0, 0] },
        },
        { 'idempotency-key': randomUUID() },
      )
    ).json.id as string;
    const reader = await shown('reader key', 'POST', '/v1/keys', { name: 'Reader', scope: 'read' });
    await shown('signing secret', 'POST', `/v1/destinations/${destination}/secret/rotate`, {});
    await shown('default secret', 'GET', '/v1/signing-secret');

    await used(target.url, destination);
    await changed(path, nextValue);
    await misused({ destination, path, value: nextValue, reader, credentials });
    await read(path, destination);

    const marker = (await call('GET', '/v1/org')).headers.get('x-request-id') as string;
    const logs = await until(
      async () => server.logs(),
      (text) => text.includes(marker),
      WITHIN_MS,
    );
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(target.posts().map(({ headers }) => headers.authorization)).toContain(`Bearer ${value}`);
    expect(answers.length).toBeGreaterThan(30);
    expect(metrics).toContain('posthorn_events_accepted_total');
    expect(answers.flatMap(({ call: which, text }) => found(text).map((what) => `${which}: ${what}`))).toEqual([]);
    expect(found(logs)).toEqual([]);
    expect(found(metrics)).toEqual([]);
    expect(found(await everythingStored())).toEqual([]);
  });

  it('stored headers with credentials are encrypted, hidden from keys of scope read, and still sent', async () => {
    const [fixed, sent, fanned, owned, received] = ['fixed', 'sent', 'fanned', 'owned', 'received'].map((what) =>
      keep(`${what} header`),
    ) as [string, string, string, string, string];
    const target = targets.open((_post, index) => ({ status: index === 0 ? 503 : 200 }));
    const settings = { retry: { schedule: [0, 0] } };
    const destination = (
      await server.api('POST', '/v1/destinations', {
        name: 'A',
        type: 'https',
        url: target.url,
        headers: { 'X-Api-Key': fixed },
        ...settings,
      })
    ).json.id as string;
    const listener = targets.open();
    expectStatus(await server.api('POST', '/v1/app', { uid: 'reader', name: 'Reader' }), 201);
    const endpoint = (
      await server.api('POST', '/v1/app/reader/endpoints', { url: listener.url, headers: { authorization: owned } })
    ).json.id as string;
    const inlet = (await server.api('POST', '/v1/endpoints', { slug: randomUUID(), destinations: [destination] })).json;

    const event = (
      await server.api('POST', '/v1/send', {
        destination,
        event_type: 'a',
        payload: {},
        headers: { Authorization: sent, 'x-tenant': '42' },
      })
    ).json.message_id as string;
    await eventIn(server, event, 'delivered');
    const message = (
      await server.api('POST', '/v1/app/reader/event', {
        event_type: 'a',
        payload: {},
        headers: { 'x-auth-token': fanned },
      })
    ).json.message_id as string;
    await listener.arrived(1);
    const { id } = (await (
      await fetch(inlet.url, { method: 'POST', headers: { 'x-auth-token': received }, body: '{}' })
    ).json()) as { id: string };
    await eventIn(server, id, 'delivered');
    await server.api('POST', `/v1/events/${event}/replay`);
    await target.arrived(4);

    const posts = target.posts();
    expect(posts.map(({ headers }) => headers['x-api-key'])).toEqual(posts.map(() => fixed));
    expect(posts.flatMap(({ headers }) => headers['authorization'] ?? [])).toEqual([sent, sent, sent]);
    expect(posts.flatMap(({ headers }) => headers['x-auth-token'] ?? [])).toEqual([received]);
    expect(listener.posts()[0]?.headers).toMatchObject({ authorization: owned, 'x-auth-token': fanned });
    expect(found(await everythingStored()).filter((what) => what.endsWith('header'))).toEqual([]);

    const { key } = (await server.api('POST', '/v1/keys', { name: 'Reads', scope: 'read' })).json;
    const paths = [
      `/v1/destinations/${destination}`,
      `/v1/app/reader/endpoints/${endpoint}`,
      '/v1/app/reader/endpoints',
      `/v1/events/${event}`,
      `/v1/events/${id}`,
      `/v1/app/reader/messages/${message}`,
      `/v1/endpoints/${inlet.id}/requests/${id.replace('evt_', 'req_')}`,
    ];
    for (const path of paths) {
      const [whole, reader] = [await server.api('GET', path), await server.api('GET', path, undefined, as(key))];
      expect([path, found(whole.text).length, found(reader.text), reader.text.includes('(hidden)')]).toEqual([
        path,
        1,
        [],
        true,
      ]);
    }
    expect((await server.api('GET', `/v1/events/${event}`, undefined, as(key))).json.headers).toEqual({
      authorization: '(hidden)',
      'x-tenant': '42',
    });
    expect((await server.api('PATCH', `/v1/destinations/${destination}`, { name: 'B' })).json.headers).toEqual({
      'X-Api-Key': fixed,
    });
  });

  it('the search of this test finds a secret in plain text, in base64 and in hex', () => {
    const text = keep('planted');

    expect(found(`a line with ${text} in it`)).toEqual(['planted']);
    expect(found(Buffer.from(text).toString('hex'))).toEqual(['planted']);
    expect(found(`${Buffer.from(text).toString('base64')}`)).toEqual(['planted']);
  });

  /** Sends messages with the secret in a header of the delivery. The first attempt of one delivery fails. */
  async function used(url: string, destination: string): Promise<void> {
    const sent = (await status(202, 'POST', '/v1/send', { destination, event_type: 'a', payload: {} })).json
      .message_id as string;
    await eventIn(server, sent, 'delivered');
    await status(202, 'POST', '/v1/send', { destination: url, event_type: 'a', payload: {} });
    await status(202, 'POST', `/v1/events/${sent}/replay`);
    await call('POST', `/v1/destinations/${destination}/test`);
    await call('POST', `/v1/destinations/${destination}/validate`);
    await status(200, 'GET', `/v1/events/${sent}`);
  }

  async function changed(path: string, value: string): Promise<void> {
    await status(200, 'PUT', path, { value, description: 'Changed' });
    await status(422, 'PUT', path, { value: `${value}\r\nx: 1` });
    await status(409, 'DELETE', path);
  }

  /** Sends secrets in the wrong fields. Error messages must not repeat them. */
  async function misused({
    destination,
    path,
    value,
    reader,
    credentials,
  }: {
    destination: string;
    path: string;
    value: string;
    reader: string;
    credentials: object;
  }): Promise<void> {
    const https = { name: 'A', type: 'https', url: 'https://127.0.0.1:1/' };
    await status(400, 'POST', '/v1/secrets', `{"name": "A", "value": "${value}`);
    await status(400, 'POST', '/v1/secrets', `{"name": "A", "value": ${value}}`);
    await status(422, 'POST', '/v1/secrets', { name: 'A', value: [value] });
    await status(422, 'POST', '/v1/secrets', { name: 'A', value: value.repeat(1000) });
    await status(422, 'POST', '/v1/secrets', { name: `${value}-`, value });
    await status(409, 'POST', '/v1/secrets', { name: 'TOKEN', value });
    await status(415, 'POST', '/v1/secrets', `name=A&value=${value}`, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    await status(403, 'POST', '/v1/secrets', { name: 'A', value }, as(reader));
    await status(401, 'GET', '/v1/secrets', undefined, as(`${reader}x`));
    await status(422, 'POST', '/v1/destinations', { ...https, headers: { 'x-a': `${value}\n` } });
    await status(422, 'POST', '/v1/destinations', { ...https, headers: { 'x-a': `{{secrets.-${value}}}` } });
    await status(422, 'POST', '/v1/destinations', { ...https, headers: value });
    await status(422, 'POST', '/v1/destinations', { ...https, secret: value });
    await status(422, 'POST', '/v1/destinations', {
      ...https,
      legacy_signature: { header: 'X-Old', secret: value, secret_encoding: 'hex' },
    });
    await status(422, 'POST', '/v1/destinations', {
      ...https,
      legacy_signature: { header: 'webhook-id', secret: value },
    });
    await status(422, 'POST', '/v1/destinations', { ...https, type: 'sqs', credentials });
    await status(422, 'POST', '/v1/destinations', { ...https, credentials: { ...credentials, more: [value] } });
    await status(422, 'PATCH', `/v1/destinations/${destination}`, { retry: value, timeout_ms: value });
    await status(404, 'PUT', `${path.slice(0, -4)}AAAA`, { value });
    await status(422, 'POST', '/v1/send', {
      destination,
      event_type: 'a',
      payload: {},
      headers: { 'webhook-id': value },
    });
    await status(400, 'GET', '/v1/events?limit=many', undefined, { 'x-note': value });
  }

  async function read(path: string, destination: string): Promise<void> {
    for (const url of [
      '/v1/secrets',
      path,
      '/v1/destinations',
      `/v1/destinations/${destination}`,
      '/v1/keys',
      '/v1/org',
      '/v1/events',
      '/openapi.json',
      '/health/ready',
    ])
      await status(200, 'GET', url);
  }

  /** Returns the secrets that a text contains, in plain text or in an encoding. */
  function found(text: string): string[] {
    const forms = (secret: string): string[] => {
      const bytes = Buffer.from(secret);
      return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, '').slice(0, -1), bytes.join(',')];
    };
    return secrets.filter((secret) => forms(secret.text).some((form) => text.includes(form))).map(({ what }) => what);
  }

  /** Returns every row of every table, with bytes as hex. */
  async function everythingStored(): Promise<string> {
    const tables = await sql.rows<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const texts = await Promise.all(
      tables.map(({ name }) => sql.rows<{ text: string }>(`select t::text as text from ${name} t`)),
    );
    expect(texts.flat().length).toBeGreaterThan(20);
    return texts
      .flat()
      .map(({ text }) => text)
      .join('\n');
  }
});
