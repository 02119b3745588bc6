import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type GuestCall, type GuestResult, runGuest } from './guest.js';
import { LOG_LINE_LENGTH_MAX, LOG_LINES_MAX } from './logs.js';

const engine = new WebAssembly.Module(
  readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm')),
);

async function guest(code: string, call: Partial<GuestCall> = {}): Promise<Exclude<GuestResult['outcome'], 'overrun'>> {
  const asked = { code, args: [], timeoutMs: 5_000, sliceMs: null, resultBytesMax: 256 * 1024, ...call };
  const { outcome } = await runGuest(engine, asked, () => performance.now());
  if (outcome === 'overrun') throw new Error('The call has no slice.');
  return outcome;
}

async function valueOf(expression: string, call?: Partial<GuestCall>): Promise<unknown> {
  const outcome = await guest(`export default (event) => ({ value: ${expression} })`, call);
  if (!outcome.ok) throw new Error(outcome.message);
  return (JSON.parse(outcome.json ?? '') as { value: unknown }).value;
}

const messageOf = async (expression: string): Promise<string> =>
  (await valueOf(`(() => { try { return ${expression} } catch (error) { return String(error) } })()`)) as string;

const linesOf = async (code: string, call?: Partial<GuestCall>): Promise<unknown> => (await guest(code, call)).logs;

describe('URL and URLSearchParams', () => {
  // Test cases of the web platform tests, from urltestdata.json and urlsearchparams-*.any.js.
  it.each([
    [`new URL('http://example\\t.\\norg').href`, 'http://example.org/'],
    [`new URL('http://user:pass@foo:21/bar;par?b#c').username`, 'user'],
    [`new URL('http:foo.com', 'http://example.org/foo/bar').href`, 'http://example.org/foo/foo.com'],
    [`new URL('../../../tmp/mock/path', 'http://example.org/foo/bar').pathname`, '/tmp/mock/path'],
    [`new URL('http://GOO\\u200b\\u2060\\ufeffgoo.com').host`, 'googoo.com'],
    [`new URL('http://你好你好').hostname`, 'xn--6qqa088eba'],
    [`new URL('http://192.0x00A80001').host`, '192.168.0.1'],
    [`new URL('http://[1::2:3]:80/x').host`, '[1::2:3]'],
    [`new URL('https://example.org/?a=1#é').hash`, '#%C3%A9'],
    [`new URL('https://example.org:444').origin`, 'https://example.org:444'],
    [`JSON.stringify({ u: new URL('https://a') })`, '{"u":"https://a/"}'],
    [`URL.canParse('no url')`, false],
    [`URL.parse('/b', 'https://a').href`, 'https://a/b'],
    [
      `[...new URLSearchParams('?a=b+c&a=%20&=&d')]`,
      [
        ['a', 'b c'],
        ['a', ' '],
        ['', ''],
        ['d', ''],
      ],
    ],
    [`new URLSearchParams({ a: 'b c', é: 1 }).toString()`, 'a=b+c&%C3%A9=1'],
    [`new URLSearchParams([['a', 'b'], ['a', '~*']]).getAll('a')`, ['b', '~*']],
    [`new URLSearchParams('a=b%ff%fe').get('a')`, 'b\ufffd\ufffd'],
    [`new URLSearchParams('a=1').get('b')`, null],
    [`new URLSearchParams('a=1&a=2').has('a', '2')`, true],
    [
      `((p) => { p.set('a', 'B'); p.append('z', '%'); p.delete('c'); return [String(p), p.size]; })(new URLSearchParams('a=b&c=d&a=e'))`,
      ['a=B&z=%25', 2],
    ],
    [`((p) => { p.sort(); return p.toString(); })(new URLSearchParams('z=b&a=b&z=a&a=a'))`, 'a=b&a=a&z=b&z=a'],
    [`Object.fromEntries(new URLSearchParams('a=1&b=2'))`, { a: '1', b: '2' }],
    [
      `((u) => { u.searchParams.append('q', 'é'); u.hash = 'x'; return u.href; })(new URL('https://a/?p=1'))`,
      'https://a/?p=1&q=%C3%A9#x',
    ],
    [`((u) => { const p = u.searchParams; u.search = '?b=2'; return p.get('b'); })(new URL('https://a/?p=1'))`, '2'],
    [`((u) => { u.port = '99999'; u.host = 'b:81'; return u.href; })(new URL('https://a'))`, 'https://b:81/'],
  ])('%s', async (expression, expected) => {
    expect(await valueOf(expression)).toEqual(expected);
  });

  it.each([
    [`new URL('//a')`, 'TypeError: Invalid URL'],
    [`new URL('http://a b/')`, 'TypeError: Invalid URL'],
    [`(() => { new URL('https://a').href = 'b' })()`, 'TypeError: Invalid URL'],
    [`new URLSearchParams([['a']])`, 'TypeError: Each query pair must have a name and a value'],
  ])('%s throws', async (expression, message) => {
    expect(await messageOf(expression)).toBe(message);
  });
});

describe('text and base64', () => {
  it.each([
    [`[...new TextEncoder().encode('é€😀')]`, [...Buffer.from('é€😀')]],
    [`[...new TextEncoder().encode('\\ud800')]`, [0xef, 0xbf, 0xbd]],
    [`new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x41, 0xff]))`, 'A\ufffd'],
    [`new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf]))`, '\ufeff'],
    [`new TextDecoder('utf-16le').decode(new Uint8Array([0xac, 0x20]).buffer)`, '€'],
    [`new TextDecoder().decode(new Uint16Array([0x4241]).subarray(0, 1))`, 'AB'],
    [`atob(' YQ == ')`, 'a'],
    [`atob('/w')`, '\xff'],
    [`btoa('\\xff\\0')`, '/wA='],
  ])('%s', async (expression, expected) => {
    expect(await valueOf(expression)).toEqual(expected);
  });

  it.each([
    [`atob('a')`, 'InvalidCharacterError: The string to be decoded is not correctly encoded'],
    [`btoa('€')`, 'InvalidCharacterError: String contains an invalid character'],
    [`new TextDecoder('none')`, 'TypeError: The encoding is not supported'],
    [
      `new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))`,
      'TypeError: The encoded data was not valid',
    ],
    [`new TextDecoder().decode('text')`, 'TypeError: The data to decode must be an ArrayBuffer or a view of one'],
  ])('%s throws', async (expression, message) => {
    expect(await messageOf(expression)).toBe(message);
  });
});

describe('crypto', () => {
  it.each([
    // Examples of FIPS 180-4 with messages of one and two blocks.
    [`crypto.sha1('abc')`, 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    [`crypto.sha256('abc')`, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    [
      `crypto.sha256('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')`,
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    ],
    [
      `crypto.sha512(new TextEncoder().encode('abc'))`,
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    ],
    // RFC 4231, test cases 1, 2 and 6.
    [
      `crypto.hmac('sha256', new Uint8Array(20).fill(0x0b), 'Hi There')`,
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      `crypto.hmac('sha256', 'Jefe', 'what do ya want for nothing?')`,
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      `crypto.hmac('sha384', new Uint8Array(131).fill(0xaa), 'Test Using Larger Than Block-Size Key - Hash Key First')`,
      '4ece084485813e9088d2c63a041bc5b44f9ef1012a2b588f3cd11f05033ac4c60c2ef6ab4030fe8296248df163f44952',
    ],
    [`crypto.hmac('sha1', '', '')`, createHmac('sha1', '').digest('hex')],
    [`crypto.sha256('é', 'base64')`, createHash('sha256').update('é').digest('base64')],
    [`crypto.hmac('sha512', 'k', 'é', 'base64url')`, createHmac('sha512', 'k').update('é').digest('base64url')],
    [`crypto.sha1('abc', 'bytes') instanceof Uint8Array && crypto.sha1('abc', 'bytes').length`, 20],
  ])('%s', async (expression, expected) => {
    expect(await valueOf(expression)).toBe(expected);
  });

  it.each([
    [`crypto.hmac('md5', 'k', 'd')`, 'TypeError: The algorithm must be one of sha1, sha256, sha384, sha512'],
    [`crypto.hmac('sha256', undefined, 'd')`, 'TypeError: The key must be a string or bytes'],
    [`crypto.sha256({})`, 'TypeError: The data must be a string or bytes'],
    [`crypto.sha256('a', 'latin1')`, 'TypeError: The encoding must be one of hex, base64, base64url, bytes'],
  ])('%s throws', async (expression, message) => {
    expect(await messageOf(expression)).toBe(message);
  });
});

describe('console', () => {
  it('captures text, JSON and errors with their level, also if the code fails', async () => {
    const code = `export default () => { console.log('a', 1, { b: [null] }, undefined); console.warn(new TypeError('t')); console.error(10n, Symbol('s')); throw new Error('no'); }`;

    expect(await guest(code)).toEqual({
      ok: false,
      reason: 'threw',
      message: 'Error: no (line 1)',
      logs: {
        lines: [
          { level: 'log', text: 'a 1 {"b":[null]} undefined' },
          { level: 'warn', text: 'TypeError: t' },
          { level: 'error', text: '10 Symbol(s)' },
        ],
        truncated: false,
      },
    });
  });

  it('omits the logs of code that writes nothing', async () => {
    expect(await guest('export default () => { const x = console; return 1 }')).toEqual({ ok: true, json: '1' });
  });

  it('keeps lines of an endless loop up to the limit', async () => {
    const { logs, ...outcome } = await guest(`export default () => { for (let n = 0; ; n += 1) console.log(n); }`, {
      timeoutMs: 1_000,
    });

    expect(outcome).toMatchObject({ ok: false, reason: 'timeout' });
    expect(logs?.lines).toHaveLength(LOG_LINES_MAX);
    expect(logs?.truncated).toBe(true);
  });

  it('cuts a long line, and stops at 16 KB', async () => {
    const logs = (
      await guest(
        `export default () => { for (let n = 0; n < 50; n += 1) console.log('é'.repeat(100_000)); return 1; }`,
      )
    ).logs;

    expect(logs?.truncated).toBe(true);
    expect(logs?.lines.map(({ text }) => text.length)).toEqual(Array(8).fill(LOG_LINE_LENGTH_MAX));
  });

  it.each([
    ['an object that refers to itself', `const a = {}; a.a = a; console.log(a)`, '[object]'],
    ['a value that throws', `console.log({ toJSON() { throw 1 } })`, '[object]'],
    ['control characters', `console.log('a\\0b\\u001bc\\ud800d\\te')`, 'a b c d\te'],
  ])('survives %s', async (_what, code, text) => {
    expect(await linesOf(`export default () => { ${code}; return 1 }`)).toMatchObject({ lines: [{ text }] });
  });

  it('works if the code changes built-ins', async () => {
    const code = `Array.prototype.map = String.prototype.slice = JSON.stringify = Array.prototype.join = () => { throw 1 };
      export default (a) => { try { console.log('a'); } catch {} return a }`;

    expect(await guest(code, { args: ['{"a":1}'] })).toMatchObject({ ok: true, json: '{"a":1}' });
  });

  it('hides secrets in lines and messages, also where a line or a message is cut', async () => {
    const secret = 'sk_live_"line1\nline2"_0123456789';
    const code = `export default (event, { secrets: { KEY } }) => {
      console.log('key', KEY, { KEY });
      console.log('x'.repeat(${LOG_LINE_LENGTH_MAX} - 10) + KEY);
      throw new Error('y'.repeat(280) + KEY);
    }`;
    const outcome = await guest(code, {
      args: ['1', JSON.stringify({ secrets: { KEY: secret } })],
      secrets: [secret, ''],
    });

    expect(outcome.logs?.lines).toEqual([
      { level: 'log', text: 'key (hidden) {"KEY":"(hidden)"}' },
      { level: 'log', text: 'x'.repeat(LOG_LINE_LENGTH_MAX - 10) },
    ]);
    expect(outcome).toMatchObject({ message: `Error: ${'y'.repeat(280)} (line 4)` });
  });
});

describe('hostile code', () => {
  it.each([
    ['parses URLs', `for (;;) new URL('https://' + 'a'.repeat(50_000))`],
    [
      'catches exceptions while it parses URLs',
      `const url = 'https://a/' + 'é'.repeat(100); for (;;) try { new URL(url) } catch {}`,
    ],
    ['hashes', `const data = 'a'.repeat(1_000_000); for (;;) crypto.sha512(data)`],
  ])('that %s without end is stopped', async (_what, code) => {
    expect(await guest(`export default () => { ${code} }`, { timeoutMs: 100 })).toMatchObject({ reason: 'timeout' });
  });

  it('gets no path of the service from an exception', async () => {
    const code = `export default () => { try { new URL('x') } catch (error) { return error.stack } }`;

    expect(await guest(code)).toMatchObject({
      ok: true,
      json: expect.not.stringMatching(/node_modules|sandbox|file:/),
    });
  });

  it('finds no other global that reaches the host', async () => {
    const plain = (await guest('export default () => Object.getOwnPropertyNames(globalThis)')) as { json: string };
    const more = (await guest(
      'export default () => Object.getOwnPropertyNames(globalThis); "console URL TextEncoder crypto"',
    )) as {
      json: string;
    };
    const known = JSON.parse(plain.json) as string[];

    expect((JSON.parse(more.json) as string[]).filter((name) => !known.includes(name)).sort()).toEqual([
      'TextDecoder',
      'TextEncoder',
      'URL',
      'URLSearchParams',
      'console',
      'crypto',
    ]);
  });

  it('keeps the memory of many calls of the host small', async () => {
    const code = `export default () => { for (let n = 0; n < 400; n += 1) new URL('https://a/' + n + 'x'.repeat(60_000)); return 1 }`;

    expect(await guest(code)).toEqual({ ok: true, json: '1' });
  });
});

describe('the bytes of a body', () => {
  it('are event.raw and event.rawBody, which a copy of the event does not have', async () => {
    const call = { args: ['{"body":1}'], body: Buffer.from('{"a": é}\xff', 'latin1') };

    expect(await valueOf(`[event.raw, [...event.rawBody].length, { ...event }, JSON.stringify(event)]`, call)).toEqual([
      '{"a": \ufffd}\ufffd',
      9,
      { body: 1 },
      '{"body":1}',
    ]);
    expect(await valueOf(`event.rawBody instanceof Uint8Array && crypto.sha256(event.rawBody)`, call)).toBe(
      createHash('sha256').update(call.body).digest('hex'),
    );
  });
});
