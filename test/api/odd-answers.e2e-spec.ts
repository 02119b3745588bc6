import { type RawReceiver, rawReceiver } from '../support/raw-receiver.js';
import type { PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { inbound, json, provide } from './receiving.js';
import { destinationAt, eventAfter, eventIn, RARE_RETRIES, send } from './scene.js';

const OK = 'HTTP/1.1 200 OK\r\n';

/**
 * Tests receivers that send slightly invalid HTTP over raw sockets. Posthorn must accept their responses, because other
 * HTTP clients accept them.
 */
describe('irregular responses that other HTTP clients accept', () => {
  let server: PosthornServer;
  let raw: RawReceiver;
  let bytes = '';

  beforeAll(async () => {
    server = await sharedServer();
    raw = await rawReceiver(
      (socket, { text }) => void (text.startsWith('POST ') ? socket.write(bytes, 'latin1') : socket.end(`${OK}\r\n`)),
    );
  });

  afterAll(async () => {
    await server.stop();
    await raw.close();
  });

  const url = (): string => `http://127.0.0.1:${raw.port}/`;

  it.each<[string, string, number, string]>([
    [
      'the same Content-Length in two lines (RFC 9110, section 8.6)',
      `${OK}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`,
      200,
      'hello',
    ],
    ['the same Content-Length twice in one line', `${OK}Content-Length: 5, 5\r\n\r\nhello`, 200, 'hello'],
    [
      'a folded header (RFC 9112, section 5.2)',
      `${OK}X-Trace: a\r\n b\r\nContent-Length: 5\r\n\r\nhello`,
      200,
      'hello',
    ],
    ['a folded Content-Length', `${OK}Content-Length:\r\n\t5\r\n\r\nhello`, 200, 'hello'],
    ['60 KB of headers', `${OK}${'X-Trace: 1\r\n'.repeat(5_000)}Content-Length: 5\r\n\r\nhello`, 200, 'hello'],
    [
      'a space before a colon',
      `${OK}Access-Control-Allow-Credentials : true\r\nContent-Length: 5\r\n\r\nhello`,
      200,
      'hello',
    ],
    ['a cookie with a control character', `${OK}Set-Cookie: a=\x01\r\nContent-Length: 5\r\n\r\nhello`, 200, 'hello'],
    [
      'Content-Length beside Transfer-Encoding',
      `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
      200,
      'hello',
    ],
    ['204 with a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello', 204, ''],
    [
      '103 before the answer',
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`,
      200,
      'hello',
    ],
  ])('delivered: %s', async (_what, answer, status, excerpt) => {
    const destination = await destinationAt(server, url(), RARE_RETRIES);

    bytes = answer;
    const first = await eventIn(server, await send(server, destination), 'delivered');
    const second = await eventIn(server, await send(server, destination), 'delivered');

    for (const { attempts } of [first, second])
      expect(attempts).toMatchObject([{ status, error: null, response_excerpt: excerpt }]);
  });

  it.each<[string, string, string]>([
    [
      'lines that end with a bare LF',
      'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello',
      'a line ends with a bare LF, and HTTP lines end with CR LF',
    ],
    [
      'chunks that end with a bare LF',
      `${OK}Transfer-Encoding: chunked\r\n\r\n5\nhello\n0\n\n`,
      'a line ends with a bare LF, and HTTP lines end with CR LF',
    ],
    [
      'lengths that differ',
      `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
      'it has several content-length values that differ',
    ],
    [
      'a length with a sign',
      `${OK}Content-Length: +5\r\n\r\nhello`,
      'its content-length is not a whole number of at most 15 digits',
    ],
    [
      '70 KB of headers',
      `${OK}X-Trace: ${'1'.repeat(70_000)}\r\nContent-Length: 5\r\n\r\nhello`,
      'its headers are longer than 64 KB',
    ],
    ['HTTP/2', '\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80', 'it is HTTP/2, and this client speaks HTTP/1.1'],
    ['TLS', '\x15\x03\x01\0\x02\x02\x46', 'it is TLS, so the URL has to begin with https://'],
  ])('the attempt explains the protocol error: %s', async (_what, answer, sentence) => {
    const destination = await destinationAt(server, url(), RARE_RETRIES);

    bytes = answer;
    const {
      attempts: [attempt],
    } = await eventAfter(server, await send(server, destination), 1);

    expect(attempt).toMatchObject({
      status: null,
      error: 'protocol',
      response_excerpt: `The answer is not valid HTTP/1.1: ${sentence}.`,
    });
  });

  it('the URL of a response proxy can also respond with folded lines', async () => {
    const endpoint = await inbound(server, { responseProxy: { target: 'url', url: url(), onUnavailable: 'error' } });

    bytes = `HTTP/1.1 201 Created\r\nContent-Type: application/xml;\r\n charset=utf-8\r\nContent-Length: 5, 5\r\n\r\nhello`;
    const answer = await provide(server, endpoint.at, json({ n: 1 }));

    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      201,
      'hello',
      'application/xml; charset=utf-8',
    ]);
  });
});
