import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectRateLimitHeaders, expectRefusal } from './answers.js';
import { exchangeBytes, requestText } from './raw-request.js';

const CLIENT_HELLO = Buffer.from('16030100c4010000c003035b8f2f', 'hex');

describe('raw bytes on a connection', () => {
  let server: PosthornServer;

  beforeAll(async () => {
    server = await sharedServer();
  });

  afterAll(() => server.stop());

  const authorized = (): Record<string, string> => ({ authorization: `Bearer ${server.apiKey}` });

  it.each<[string, number, string | Buffer]>([
    ['words', 400, 'hello there\r\n\r\n'],
    ['a TLS handshake', 400, CLIENT_HELLO],
    ['zeros', 400, Buffer.alloc(64)],
    ['an unknown HTTP method', 400, requestText('BREW /v1/org')],
    ['an unknown HTTP version', 400, 'GET /v1/org HTTP/9.9\r\nhost: localhost\r\n\r\n'],
    ['a space before a colon', 400, 'GET /v1/org HTTP/1.1\r\nhost : localhost\r\n\r\n'],
    ['an invalid header name', 400, 'GET /v1/org HTTP/1.1\r\nhost: localhost\r\nx y: z\r\n\r\n'],
    ['NUL in a header', 400, 'GET /v1/org HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n'],
    ['a Content-Length that is not a number', 400, requestText('POST /v1/send', { 'content-length': 'ten' })],
    ['a negative length', 400, requestText('POST /v1/send', { 'content-length': '-1' })],
    ['two lengths', 400, 'POST /v1/send HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
    [
      'Content-Length and chunked encoding together',
      400,
      requestText('POST /v1/send', { 'content-length': '2', 'transfer-encoding': 'chunked' }),
    ],
    ['chunks twice', 400, requestText('POST /v1/send', { 'transfer-encoding': 'chunked, chunked, identity' })],
    ['headers over 16 KB', 431, requestText('GET /v1/org', { 'x-long': 'a'.repeat(17_000) })],
    ['a URL longer than 16 KB', 431, requestText(`GET /v1/${'a'.repeat(17_000)}`)],
  ])('are answered with the error envelope, and the connection ends: %s', async (_what, status, bytes) => {
    const { answers, ended } = await exchangeBytes(server, bytes, 2);

    expect(answers).toHaveLength(1);
    expectRefusal(answers[0]!, status);
    expect(answers[0]?.headers.get('connection')).toBe('close');
    expect(ended).toBe(true);
  });

  it('400: HTTP/1.1 without a Host header', async () => {
    const { answers } = await exchangeBytes(server, 'GET /v1/org HTTP/1.1\r\n\r\n');

    expectRefusal(answers[0]!, 400);
    expectRateLimitHeaders(answers[0]!.headers);
  });

  it('200: HTTP/1.0 needs no Host header', async () => {
    const { answers } = await exchangeBytes(
      server,
      `GET /v1/org HTTP/1.0\r\nauthorization: Bearer ${server.apiKey}\r\n\r\n`,
    );

    expect(answers[0]?.status).toBe(200);
  });

  it('400: a request target that is not a path', async () => {
    const { answers } = await exchangeBytes(server, requestText('OPTIONS *'));

    expectRefusal(answers[0]!, answers[0]?.status === 404 ? 404 : 400);
  });

  it('400: CONNECT is rejected with the error envelope, not with a closed connection', async () => {
    const { answers, ended } = await exchangeBytes(
      server,
      'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n',
      2,
    );

    expect(answers).toHaveLength(1);
    expectRefusal(answers[0]!, 400);
    expect(ended).toBe(true);
  });

  it('200: an unsupported upgrade is ignored (RFC 9110, section 7.8)', async () => {
    const { answers } = await exchangeBytes(
      server,
      requestText('GET /v1/org', { ...authorized(), connection: 'Upgrade', upgrade: 'websocket' }),
    );

    expect(answers[0]?.status).toBe(200);
  });

  it('Expect: 100-continue gets 100 first, then the final answer', async () => {
    const { text, answers } = await exchangeBytes(
      server,
      requestText(
        'POST /v1/keys',
        {
          ...authorized(),
          'content-type': 'application/json',
          expect: '100-continue',
        },
        '{"name":"Expecting","scope":"read"}',
      ),
    );

    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 /);
    expect(answers[0]?.json).toMatchObject({ name: 'Expecting' });
  });

  it('an unknown expectation is ignored (RFC 9110, section 10.1.1)', async () => {
    const { answers } = await exchangeBytes(
      server,
      requestText('GET /v1/org', { ...authorized(), expect: 'the-unexpected' }),
    );

    expect(answers[0]?.status).toBe(200);
  });

  it('pipelined requests are answered in order', async () => {
    const { answers } = await exchangeBytes(
      server,
      [
        requestText('GET /v1/org', authorized()),
        requestText('GET /v1/nothing', authorized()),
        requestText(
          'POST /v1/destinations',
          { ...authorized(), 'content-type': 'application/json' },
          '{"name":"P","type":"pull"}',
        ),
        requestText('GET /v1/org'),
      ].join(''),
      4,
    );

    expect(answers.map(({ status }) => status)).toEqual([200, 404, 201, 401]);
  });

  it('202: a chunked body is accepted like any other', async () => {
    const destination = await server.api('POST', '/v1/destinations', { name: 'Chunked', type: 'pull' });
    const json = JSON.stringify({ destination: destination.json.id, event_type: 'chunked', payload: { a: 1 } });
    const chunks =
      json
        .match(/.{1,7}/gs)
        ?.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
        .join('') ?? '';
    const head = requestText('POST /v1/send', {
      ...authorized(),
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    });

    const { answers } = await exchangeBytes(server, `${head}${chunks}0\r\n\r\n`);

    expect(answers[0]?.status).toBe(202);
  });

  it('413: a chunked body is rejected before it ends', async () => {
    const head = requestText('POST /v1/send', {
      ...authorized(),
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    });
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;

    const { answers } = await exchangeBytes(server, head + chunk.repeat(18));

    expectRefusal(answers[0]!, 413);
    expectRateLimitHeaders(answers[0]!.headers);
  });

  it('an incomplete or wrongly framed body stores nothing and affects no other request', async () => {
    const headers = { ...authorized(), 'content-type': 'application/json' };
    const body = '{"name":"Half a request","type":"pull"}';
    const chunked = requestText('POST /v1/destinations', { ...headers, 'transfer-encoding': 'chunked' });

    const broken = [
      exchangeBytes(server, `${chunked}zz\r\n${body}\r\n0\r\n\r\n`),
      exchangeBytes(server, `${chunked}27\r\n${body}JUNK`),
      exchangeBytes(
        server,
        requestText('POST /v1/destinations', { ...headers, 'content-length': String(body.length - 1) }, body),
      ),
    ];

    for (const { answers } of await Promise.all(broken)) {
      expect(answers[0]?.status ?? 400).toBe(400);
    }
    const { json } = await server.api('GET', '/v1/destinations');
    expect(json.data.map(({ name }: { name: string }) => name)).not.toContain('Half a request');
  });
});
