import fc from 'fast-check';
import { isSuspect, parseJson } from './body-parser.js';

const bytes = (text: string): Buffer => Buffer.from(text);

it('parses any JSON value like JSON.parse, and keeps its text', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const text = JSON.stringify(value);
      const parsed = parseJson(bytes(text));
      expect(parsed.text).toBe(text);
      expect(parsed.value).toEqual(JSON.parse(text));
    }),
  );
});

it.each([
  ['an unfinished object', bytes('{"a":')],
  ['a trailing comma', bytes('{"a":1,}')],
  ['two values', bytes('{} {}')],
  ['a byte order mark', bytes('\ufeff{}')],
  ['a lone continuation byte', Buffer.from([0x22, 0x80, 0x22])],
  ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['latin-1', Buffer.from([0x22, 0xe9, 0x22])],
])('400 for %s', (_, body) => {
  expect(() => parseJson(body)).toThrow(expect.objectContaining({ type: 'bad_request' }));
});

it('does not repeat the body in its message', () => {
  const unread = (): unknown => parseJson(bytes('{"password": hunter2}'));

  expect(unread).toThrow('not valid JSON');
  expect(unread).not.toThrow('hunter');
});

describe('a field named `__proto__`', () => {
  it.each([
    ['at the top', '{"__proto__":{"admin":true},"a":1}'],
    ['deep inside', '{"list":[{"__proto__":{"admin":true},"a":1}]}'],
    ['with escaped underscores', '{"\\u005f_proto_\\u005F":{"admin":true},"a":1}'],
    ['with an escaped letter', '{"__pr\\u006Fto__":{"admin":true},"a":1}'],
  ])('stays an own property and is searched for: %s', (_, text) => {
    const { value } = parseJson(bytes(text));

    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
    expect((value as { admin?: boolean }).admin).toBeUndefined();
    expect(isSuspect(value as object)).toBe(true);
  });
});

it.each([
  ['{"a":"\\u0000"}', true],
  ['{"a":"\\ud800"}', true],
  ['{"a":"\\uD83D\\uDE00"}', true],
  ['{"a":"\\u00e9"}', false],
  ['{"a":"😀"}', false],
])('%s is checked for characters that cannot be stored: %s', (text, suspect) => {
  expect(isSuspect(parseJson(bytes(text)).value as object)).toBe(suspect);
});
