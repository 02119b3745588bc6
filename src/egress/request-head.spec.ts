import fc from 'fast-check';
import { Client } from 'undici';
import { agentWith, cleanUp, receiverWith, to } from '../../test/support/egress.js';
import { ExchangeEnded } from './failure.js';
import { requestHead } from './request-head.js';

const ENDPOINT_URL = new URL('https://ann:secret@hooks.example.com:8443/a%20b?c=d#e');
const headOf = (method: string, headers: Record<string, string> = {}, body: string | Buffer | null = null): string =>
  requestHead({ method, url: ENDPOINT_URL, headers, body }).text;
const FIRST = ' /a%20b?c=d HTTP/1.1\r\nhost: hooks.example.com:8443\r\nconnection: keep-alive\r\n';

describe('requestHead', () => {
  it.each<[string, string | Buffer | null, string]>([
    ['GET', null, ''],
    ['GET', '', ''],
    ['DELETE', Buffer.alloc(0), ''],
    ['GET', 'é', 'content-length: 2\r\n'],
    ['POST', null, 'content-length: 0\r\n'],
    ['PUT', '', 'content-length: 0\r\n'],
    ['M-SEARCH', null, ''],
    ['POST', Buffer.from('abc'), 'content-length: 3\r\n'],
  ])('sends a content-length for %s with the body %p where required', (method, body, length) => {
    expect(headOf(method, {}, body)).toBe(`${method}${FIRST}${length}\r\n`);
  });

  it('omits headers that the caller must not set, and sends one content-length', () => {
    expect(headOf('POST', { Host: 'x', 'Accept-Encoding': 'gzip', 'Content-Length': '2', 'x-kept': '1' }, 'ab')).toBe(
      `POST${FIRST}x-kept: 1\r\ncontent-length: 2\r\n\r\n`,
    );
  });

  it.each([
    ['POST /', {}],
    ['', {}],
    ['POST', { 'x y': '1' }],
    ['POST', { x: 'a\r\nb: c' }],
    ['POST', { x: 'a\0' }],
    ['POST', { x: '\u20ac' }],
    ['POST', { 'Content-Length': '3' }],
    ...['Transfer-Encoding', 'Connection', 'Keep-Alive', 'Upgrade', 'Expect', 'TE', 'Trailer'].map(
      (name): [string, Record<string, string>] => ['POST', { [name]: 'x' }],
    ),
  ])('rejects %j with %j, without showing a value', (method, headers) => {
    let refusal: unknown;
    try {
      headOf(method, headers, 'ab');
    } catch (error) {
      refusal = error;
    }

    expect(refusal).toBeInstanceOf(ExchangeEnded);
    expect(refusal).toMatchObject({
      failure: 'protocol',
      message: expect.stringMatching(/^The request is not valid HTTP: /),
    });
    expect((refusal as Error).message).not.toMatch(/[\r\n\0\u20ac]|b: c/);
  });
});

describe('beside undici', () => {
  afterEach(cleanUp);

  it('sends exactly the bytes that undici sends', async () => {
    const receiver = await receiverWith();
    const agent = agentWith();
    const client = new Client(`http://127.0.0.1:${receiver.port}`);
    const name = fc.stringMatching(/^x-[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,8}$/);
    const value = fc.stringMatching(/^[!-~\x80-\xff]{0,8}$/);
    const path = fc.webPath().map((at) => (at.startsWith('/') ? at : `/${at}`));
    const body = fc.oneof(
      fc.constant(null),
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.uint8Array({ maxLength: 30 }).map((bytes) => Buffer.from(bytes)),
    );

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'M-SEARCH'),
        path,
        fc.dictionary(name, value, { maxKeys: 4 }),
        body,
        async (method, at, headers, sent) => {
          const url = new URL(`http://127.0.0.1:${receiver.port}${at}`);
          receiver.requests.length = 0;
          await agent.exchange(to(receiver, { method, url, headers: { ...headers }, body: sent }));
          await client
            .request({ method, path: url.pathname + url.search, headers, body: sent })
            .then((answer) => answer.body.text());

          expect(receiver.requests).toHaveLength(2);
          expect(receiver.requests[0]?.text).toBe(receiver.requests[1]?.text);
        },
      ),
      { numRuns: 150 },
    );
    await client.close();
  });
});
