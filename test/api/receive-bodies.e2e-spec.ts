import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { ReceivedRequest } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { exchangeBytes, requestText } from './raw-request.js';
import type { Inbound, Sent } from './receiving.js';
import { accepted, inbound, json, provide, requestOf, requestsOf } from './receiving.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, eventIn, eventOf, expectStatus, openSql, startTargets } from './scene.js';

const MEGABYTE = 1024 * 1024;

interface Case {
  body: Buffer;
  type: string;
  /** Payload as the API shows it in the event. */
  shown: { payload_encoding: string; payload: unknown };
  requestEncoding: 'text' | 'base64';
}

const bytes = (body: Buffer, type = 'application/octet-stream'): Case => ({
  body,
  type,
  shown: { payload_encoding: 'base64', payload: body.toString('base64') },
  requestEncoding: 'base64',
});
const text = (body: string, type: string): Case => ({
  body: Buffer.from(body),
  type,
  shown: { payload_encoding: 'text', payload: body },
  requestEncoding: 'text',
});
const jsonText = (body: string, type = 'application/json'): Case => ({
  body: Buffer.from(body),
  type,
  shown: { payload_encoding: 'json', payload: JSON.parse(body) },
  requestEncoding: 'text',
});

const BODIES: [string, Case][] = [
  [
    'JSON with its spaces, its order of keys and its escapes',
    jsonText('{ "b" : 1.50,\r\n"a":"\\u00e9\\/", "a": 2 }\n'),
  ],
  ['JSON of another media type', jsonText('{"a":1}', 'application/cloudevents+json; charset=UTF-8')],
  ['a list', jsonText('[1,[2,{}]]')],
  ['a form', text('a=1&b=%00+x&a=2', 'application/x-www-form-urlencoded')],
  ['XML', text('<?xml version="1.0"?><a>é😀\u2028</a>', 'text/xml; charset=utf-8')],
  ['JSON behind a byte order mark', text('\ufeff{"a":1}', 'application/json')],
  ['text that says that it is JSON', text('{"a":', 'application/json')],
  [
    'a multipart form',
    text('--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n', 'multipart/form-data; boundary=x'),
  ],
  ['bytes with U+0000', bytes(Buffer.from('a\0b'))],
  ['JSON with a raw U+0000 in it', bytes(Buffer.from('{"a":"\0"}'), 'application/json')],
  ['bytes that are no UTF-8', bytes(Buffer.from([0xff, 0xfe, 0x80, 0xc3, 0x28]), 'text/plain')],
  ['a surrogate in UTF-8', bytes(Buffer.from([0xed, 0xa0, 0x80]), 'application/json')],
  ['every byte', bytes(Buffer.from(Array.from({ length: 256 }, (_, i) => i)), 'application/x-protobuf')],
  ['an empty body', text('', 'application/json')],
];

/** Content types that providers send. Each must be accepted, because a rejected webhook would be lost. */
const TYPES: (string | undefined)[] = [
  undefined,
  '',
  ' ',
  ';',
  'json',
  'application/',
  '/',
  'a/b/c',
  'text/plain; charset=',
  'application/json;;q',
  'é/ü',
  'a'.repeat(3000),
];

describe('request bodies of endpoints', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let target: TargetPath;
  let endpoint: Inbound;
  let secret: string;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
    sql = openSql(server);
    target = targets.open();
    const destination = await destinationAt(server, target.url);
    endpoint = await inbound(server, { destinations: [destination] });
    secret = (await server.api('GET', `/v1/destinations/${destination}/secret`)).json.secret;
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const delivered = async (webhookId: string): Promise<ReceivedRequest> => {
    await eventIn(server, webhookId, 'delivered');
    return target.posts().find(({ headers }) => headers['webhook-id'] === webhookId) as ReceivedRequest;
  };

  /**
   * Verifies text bodies with the reference library, which accepts only text. For all other bodies, computes the
   * signature itself.
   */
  const expectSigned = ({ rawBody, headers }: ReceivedRequest): void => {
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
      String(headers[`webhook-${name}`]),
    );
    const isText = Buffer.from(rawBody.toString()).equals(rawBody);
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(signature).toBe(
      isText
        ? new Webhook(secret).sign(String(id), new Date(Number(timestamp) * 1000), rawBody.toString())
        : `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('base64')}`,
    );
  };

  it.each(BODIES)(
    '%s: stored, shown and delivered byte for byte, signed (Standard Webhooks)',
    async (_title, { body, type, shown, requestEncoding }) => {
      const id = await accepted(server, endpoint, { body, headers: { 'content-type': type } });

      const post = await delivered(id);
      const event = await eventOf(server, id);
      const request = await requestOf(server, endpoint, id);
      expect(post.rawBody.equals(body)).toBe(true);
      expect(post.headers).toMatchObject({
        'content-type': type,
        'webhook-id': id,
        'webhook-signature': expect.stringMatching(/^v1,/),
      });
      expectSigned(post);
      expect(event).toMatchObject({ ...shown, webhook_id: id, direction: 'inbound', endpoint: endpoint.path });
      expect({ body: request.body, body_encoding: request.body_encoding, size_bytes: request.size_bytes }).toEqual({
        body: requestEncoding === 'text' ? body.toString() : body.toString('base64'),
        body_encoding: requestEncoding,
        size_bytes: body.length,
      });
    },
  );

  it('integers beyond 2^53 keep their digits in the event, the request and the delivery', async () => {
    const body = '{"id":12345678901234567890,"amount":1e400,"small":0.10}';

    const id = await accepted(server, endpoint, { body, headers: { 'content-type': 'application/json' } });

    expect((await delivered(id)).rawBody.toString()).toBe(body);
    expect((await server.api('GET', `/v1/events/${id}`)).text).toContain(`"payload":${body}`);
    expect((await requestOf(server, endpoint, id)).body).toBe(body);
  });

  it.each(TYPES.map((type) => [String(type).slice(0, 30), type]))(
    '200: the content type "%s" is accepted',
    async (_title, type) => {
      const headers: Sent['headers'] =
        type === undefined ? {} : { 'content-type': Buffer.from(type).toString('latin1') };

      const id = await accepted(server, endpoint, { body: 'abc', headers });

      const post = await delivered(id);
      expect(post.rawBody.toString()).toBe('abc');
      expect(post.headers['content-type']).toBeDefined();
    },
  );

  it.each([
    'GET',
    'HEAD',
    'OPTIONS',
    'DELETE',
    'PATCH',
    'PUT',
    'POST',
    'PROPFIND',
    'REPORT',
    'SEARCH',
    'NOTIFY',
    'M-SEARCH',
    'PURGE',
  ])('200: %s is received, with a body if HTTP allows one', async (method) => {
    const body = ['GET', 'HEAD'].includes(method) ? undefined : `{"by":"${method}"}`;

    const answer = await provide(server, `${endpoint.at}?by=${method}`, {
      method,
      ...(body && { body }),
      headers: { 'content-type': 'application/json' },
    });

    expect(answer.status).toBe(200);
    expect(answer.text === '').toBe(method === 'HEAD');
    const [request] = await requestsOf(server, endpoint);
    expect(request).toMatchObject({ method, size_bytes: body?.length ?? 0, status: 'routed', verified: null });
    expect(await requestOf(server, endpoint, request.id)).toMatchObject({ query: `by=${method}`, body: body ?? '' });
  });

  it('200: DELETE and OPTIONS with a body but no content type keep the body', async () => {
    for (const method of ['DELETE', 'OPTIONS']) {
      const id = await accepted(server, endpoint, { method, body: 'kept' });
      expect(await requestOf(server, endpoint, id)).toMatchObject({ method, body: 'kept' });
    }
  });

  it('200: a slow chunked body with trailers is received completely', async () => {
    const head = `POST ${endpoint.at} HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n`;
    const { answers } = await exchangeBytes(server, `${head}3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nx-late: 1\r\n\r\n`);

    expect(answers).toHaveLength(1);
    expect(await requestOf(server, endpoint, answers[0]?.json.id)).toMatchObject({ body: 'abcd', size_bytes: 4 });
  });

  it.each([
    ['an invalid chunk', 'transfer-encoding: chunked', 'zz\r\nabc\r\n'],
    ['two lengths', 'content-length: 3\r\ncontent-length: 4', 'abcd'],
    ['both a length and chunks', 'content-length: 3\r\ntransfer-encoding: chunked', '3\r\nabc\r\n0\r\n\r\n'],
    ['an invalid length', 'content-length: 3x', 'abc'],
    ['a header line without a name', ': x', ''],
    ['U+0000 in a header', 'x-a: b\0c', ''],
  ])('400: %s is rejected with the error envelope, and nothing is stored', async (_title, header, body) => {
    const before = (await requestsOf(server, endpoint))[0].id as string;

    const { answers } = await exchangeBytes(
      server,
      `POST ${endpoint.at} HTTP/1.1\r\nhost: localhost\r\n${header}\r\n\r\n${body}`,
    );

    expect(answers).toHaveLength(1);
    if (answers[0]) expectRefusal(answers[0], 400);
    expect((await requestsOf(server, endpoint))[0].id).toBe(before);
  });

  it('a connection that ends in the middle of a body stores nothing', async () => {
    const before = (await requestsOf(server, endpoint))[0].id as string;

    await Promise.race([
      exchangeBytes(server, `${requestText(`POST ${endpoint.at}`, { 'content-length': '10' })}abc`).catch(
        () => undefined,
      ),
      accepted(server, endpoint, json({ marker: true })),
    ]);

    const found = await requestsOf(server, endpoint);
    expect(found[1].id).toBe(before);
  });

  it('200: one megabyte is accepted and delivered completely', async () => {
    const body = Buffer.alloc(MEGABYTE, 'a');
    body.write('{"a":"');
    body.write('"}', MEGABYTE - 2);

    const id = await accepted(server, endpoint, { body, headers: { 'content-type': 'application/json' } });

    expect((await delivered(id)).rawBody.equals(body)).toBe(true);
    const event = await eventOf(server, id);
    expect(event.payload_truncated).toBe(true);
    expect(event).not.toHaveProperty('payload');
    expect(await requestOf(server, endpoint, id)).toMatchObject({ size_bytes: MEGABYTE, body: body.toString() });
  });

  it.each([
    ['with its length', { 'content-length': String(MEGABYTE + 1) }],
    ['in chunks', { 'transfer-encoding': 'chunked' }],
  ])(
    '413: one byte more, %s, is rejected with the error envelope, and only the request is stored, without its body',
    async (_title, headers) => {
      const stored = async (): Promise<unknown[]> =>
        sql.rows(
          'select (select count(*) from events)::int as events, (select count(body) from requests)::int as bodies, (select count(*) from requests)::int as requests',
        );
      const [before] = (await stored()) as [{ events: number; bodies: number; requests: number }];
      const isChunked = 'transfer-encoding' in headers;

      const answer = await provide(server, endpoint.at, {
        body: Buffer.alloc(MEGABYTE + 1, 'a'),
        headers: isChunked ? { ...headers, 'content-length': [] } : headers,
      });

      expectRefusal(answer, 413);
      expect(await stored()).toEqual([{ ...before, requests: before.requests + 1 }]);
    },
  );

  it('431: headers of more than 16 KB are rejected with the error envelope; a thousand small ones are accepted and forwarded', async () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`x-h${i}`, 'v']));

    const tooLarge = await exchangeBytes(server, requestText(`POST ${endpoint.at}`, { 'x-bomb': 'a'.repeat(20_000) }));
    const id = await accepted(server, endpoint, {
      body: '{}',
      headers: { 'content-type': 'application/json', ...many },
    });

    if (tooLarge.answers[0]) expectRefusal(tooLarge.answers[0], 431);
    expect(tooLarge.answers).toHaveLength(1);
    const forwarded = Object.keys((await delivered(id)).headers).filter((name) => name.startsWith('x-h'));
    expect(forwarded).toHaveLength(600);
    expect(
      (await requestOf(server, endpoint, id)).headers.filter(([name]: [string]) => name.startsWith('x-h')),
    ).toHaveLength(600);
  });

  it('headers keep their order, including repeated and unusual ones; connection headers are not forwarded', async () => {
    const head = [
      `POST ${endpoint.at} HTTP/1.1`,
      'host: localhost',
      'X-Twice: 1',
      'x-twice: 2',
      '__proto__: p',
      'X-Latin: caf\xe9',
      'x-empty:',
      'authorization: Bearer theirs',
      'cookie: a=b',
      'x-forwarded-for: 10.0.0.1',
      'forwarded: for=10.0.0.1',
      'webhook-id: theirs',
      'webhook-signature: v1,forged',
      'webhook-timestamp: 1',
      'webhook-event-type: theirs',
      'webhook-replayed: true',
      'posthorn-hops: 2',
      'content-length: 2',
      '',
      '{}',
    ].join('\r\n');

    const { answers } = await exchangeBytes(server, Buffer.from(head, 'latin1'));

    const id = expectStatus(answers[0] as never, 200).json.id as string;
    const { headers: kept } = await requestOf(server, endpoint, id);
    expect(kept.slice(0, 6)).toEqual([
      ['host', 'localhost'],
      ['x-twice', '1'],
      ['x-twice', '2'],
      ['__proto__', 'p'],
      ['x-latin', 'caf\xe9'],
      ['x-empty', ''],
    ]);
    const post = await delivered(id);
    expectSigned(post);
    expect(post.headers).toMatchObject({
      'x-twice': '1, 2',
      'x-latin': 'caf\xe9',
      'x-empty': '',
      'webhook-id': id,
      'webhook-event-type': 'webhook.received',
      'posthorn-hops': '3',
    });
    for (const name of ['authorization', 'cookie', 'x-forwarded-for', 'forwarded', 'webhook-replayed'])
      expect(post.headers).not.toHaveProperty(name);
  });
});
