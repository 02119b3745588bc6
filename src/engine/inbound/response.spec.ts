import { answerHeaderFaults, answersEvents, RESPONSE_TYPES, responseFaults, staticAnswer } from './response.js';

const paths = (json: unknown): string[] => responseFaults(json).map(({ path }) => path);

describe('responseFaults', () => {
  it.each([
    { type: 'static' },
    { type: 'static', status: 204 },
    { type: 'static', status: 599, body: 'ä', headers: { 'X-A': 'b', 'content-type': 'text/html' } },
    { type: 'meta-challenge', verifyToken: 'a', status: 200, body: 'EVENT_RECEIVED' },
    { type: 'ebay-challenge', verificationToken: 'a', endpointUrl: 'https://example.com' },
    { type: 'zoom-challenge', secret: 'a' },
    ...RESPONSE_TYPES.filter((type) => type !== 'meta-challenge' && type !== 'ebay-challenge').map((type) => ({
      type,
    })),
  ])('none: %j', (json) => {
    expect(responseFaults(json)).toEqual([]);
  });

  it.each([
    [null, ['response']],
    [[], ['response']],
    ['static', ['response']],
    [{}, ['response.type']],
    [{ type: 'Static' }, ['response.type']],
    [{ type: 'constructor' }, ['response.type']],
    [{ type: 'static', colour: 1 }, ['response.colour']],
    [JSON.parse('{"type":"static","__proto__":1}'), ['response.__proto__']],
    [{ type: 'static', status: 199 }, ['response.status']],
    [{ type: 'static', status: 600 }, ['response.status']],
    [{ type: 'static', status: '200' }, ['response.status']],
    [{ type: 'static', status: 200.5 }, ['response.status']],
    [{ type: 'static', status: 204, body: 'a' }, ['response.body']],
    [{ type: 'static', body: 1 }, ['response.body']],
    [{ type: 'static', body: 'ä'.repeat(32 * 1024 + 1) }, ['response.body']],
    [{ type: 'static', headers: [] }, ['response.headers']],
    [{ type: 'meta-challenge' }, ['response.verifyToken']],
    [{ type: 'meta-challenge', verifyToken: '' }, ['response.verifyToken']],
    [{ type: 'meta-challenge', verifyToken: 'a'.repeat(1025) }, ['response.verifyToken']],
    [{ type: 'ebay-challenge', secret: 1 }, ['response.secret', 'response.verificationToken', 'response.endpointUrl']],
  ])('%j: at %j', (json, expected) => {
    expect(paths(json)).toEqual(expected);
  });

  it('never quotes a secret', () => {
    const faults = responseFaults({ type: 'x-crc', secret: 'hunter2'.repeat(200) });

    expect(faults).toHaveLength(1);
    expect(JSON.stringify(faults)).not.toContain('hunter2');
  });
});

describe('answerHeaderFaults', () => {
  it.each([
    ['a b', 'c'],
    ['', 'c'],
    ['x:', 'c'],
    ['x-a', 'a\r\nset-cookie: b'],
    ['x-a', ' a'],
    ['x-a', 1],
    ['x-a', '\u0100'],
    ['x-a', 'a'.repeat(4097)],
    ['Set-Cookie', 'a=b'],
    ['content-length', '1'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'close'],
    ['strict-transport-security', 'max-age=1'],
    ...['X-Accel-Redirect', 'X-Sendfile', 'Refresh', 'NEL', 'Report-To', 'Reporting-Endpoints', 'WWW-Authenticate'].map(
      (name) => [name, 'a'] as [string, string],
    ),
  ])('%s: %j is none', (name, value) => {
    expect(answerHeaderFaults({ [name]: value }, 'headers')).toEqual([
      { path: `headers.${name}`, message: expect.any(String) },
    ]);
  });

  it('rejects repeated names and too many headers', () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`x-${index}`, 'a']));

    expect(answerHeaderFaults({ 'X-A': '1', 'x-a': '2' }, 'h')).toEqual([
      { path: 'h.x-a', message: 'The same name occurs twice.' },
    ]);
    expect(answerHeaderFaults(many, 'h')).toHaveLength(1);
    expect(answerHeaderFaults({ 'X-A': '1', 'content-type': 'text/html' }, 'h')).toEqual([]);
  });
});

describe('staticAnswer', () => {
  it.each([
    [{}, { status: 200, headers: {}, body: '' }],
    [
      { status: 202, body: 'ok' },
      { status: 202, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: 'ok' },
    ],
    [
      { body: '{}', headers: { 'Content-Type': 'application/json', 'X-A': 'b' } },
      { status: 200, headers: { 'content-type': 'application/json', 'x-a': 'b' }, body: '{}' },
    ],
  ])('%j answers %j', (settings, expected) => {
    expect(staticAnswer(settings)).toEqual(expected);
  });

  it('answers events of a handshake type only if the settings define an answer', () => {
    expect(answersEvents({ type: 'static' })).toBe(true);
    expect(answersEvents({ type: 'x-crc' })).toBe(false);
    expect(answersEvents({ type: 'x-crc', status: 204 })).toBe(true);
  });
});
