import fc from 'fast-check';
import { unicodeText } from '../../test/support/unicode-text.js';
import { findMemberRange } from './member-range.js';

function slice(text: string, name: string): string | null {
  const span = findMemberRange(text, name);
  return span === null ? null : text.slice(span.start, span.end);
}

describe('findMemberRange', () => {
  it.each<[string, string, string | null]>([
    ['{"payload":1}', 'payload', '1'],
    [' \t\r\n{ "a" : [1, 2] , "payload" : {"b" : 1.0e+2 } } \n', 'payload', '{"b" : 1.0e+2 }'],
    ['{"payload":12345678901234567890.10,"z":0}', 'payload', '12345678901234567890.10'],
    ['{"payload":null}', 'payload', 'null'],
    ['{"payload" : true }', 'payload', 'true'],
    ['{"payload":-0\n}', 'payload', '-0'],
    ['{"payload":""}', 'payload', '""'],
    ['{"payload":"a\\"},{\\\\"}', 'payload', '"a\\"},{\\\\"'],
    ['{"payload":{"s":"}\\\\\\"]"}}', 'payload', '{"s":"}\\\\\\"]"}'],
    ['{"a":"\\\\","payload":2}', 'payload', '2'],
    ['{"a":{"payload":1},"b":["payload"]}', 'payload', null],
    ['{"a":"payload"}', 'payload', null],
    ['{"payload":1,"payload":{"second":true}}', 'payload', '{"second":true}'],
    ['{"payload":1,"pa\\u0079load":2}', 'payload', '2'],
    ['{"pa\\u0079load":1,"payload":2}', 'payload', '2'],
    ['{"\\u0070\\u0061yload":[]}', 'payload', '[]'],
    ['{"payloa":1,"payloads":2,"Payload":3}', 'payload', null],
    ['{"":1}', '', '1'],
    ['{"a\\\\n":1,"a\\n":2}', 'a\\n', '1'],
    ['{"a\\\\n":1,"a\\n":2}', 'a\n', '2'],
    ['{"__proto__":1}', '__proto__', '1'],
    ['{"日本\\ud83d\\ude00":"é"}', '日本😀', '"é"'],
    ['{}', 'payload', null],
    [' { } ', 'payload', null],
    ['["payload",1]', 'payload', null],
    ['"payload"', 'payload', null],
    ['1', 'payload', null],
  ])('of %s, member %j, is %j', (text, name, expected) => {
    JSON.parse(text);

    expect(slice(text, name)).toBe(expected);
  });
});

describe('findMemberRange of hostile text', () => {
  it('scans a payload of any depth', () => {
    const deep = `${'[{"a":'.repeat(100_000)}0${'}]'.repeat(100_000)}`;

    expect(slice(`{"x":${deep},"payload":${deep}}`, 'payload')).toBe(deep);
  });

  it('scans a long run of backslashes in linear time', () => {
    const value = `"${'\\\\\\"'.repeat(250_000)}"`;

    expect(slice(`{"payload":${value}}`, 'payload')).toBe(value);
  });

  it('returns a range or null, or throws a SyntaxError, for text that is not JSON', () => {
    const scrap = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', ' ', '1', '"a"'), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(scrap, (parts) => {
        try {
          findMemberRange(`{${parts.join('')}`, 'a');
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

const space = fc.array(fc.constantFrom(' ', '\t', '\n', '\r'), { maxLength: 3 }).map((chars) => chars.join(''));
const names = fc.constantFrom('payload', 'a', '', 'b\\', 'q"', '__proto__', 'ü', '\ud83d\ude00', '\u2028');

/** Returns JSON spellings of the characters, some as \uXXXX. */
const spelled = (characters: string): fc.Arbitrary<string> =>
  fc.infiniteStream(fc.boolean()).map((escapes) => {
    const units = characters
      .split('')
      .map((unit) =>
        escapes.next().value
          ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
          : JSON.stringify(unit).slice(1, -1),
      );
    return `"${units.join('')}"`;
  });

const value = fc.oneof(
  fc
    .tuple(fc.json({ maxDepth: 4 }), fc.constantFrom(0, 1, 3))
    .map(([json, indent]) => JSON.stringify(JSON.parse(json), null, indent)),
  unicodeText().chain(spelled),
  fc
    .array(fc.constantFrom('\\\\', '\\"', '{', '}', '[', ']', ',', ':', '\\n', 'x'))
    .map((parts) => `["${parts.join('')}"]`),
);

const member = fc
  .record({ before: space, key: names.chain(spelled), colon: space, value, after: space, space })
  .map((m) => ({
    key: JSON.parse(m.key) as string,
    value: m.value,
    text: `${m.before}${m.key}${m.space}:${m.colon}${m.value}${m.after}`,
  }));

describe('findMemberRange of random JSON with random white space, escapes and duplicates', () => {
  it('covers exactly the last member of that name, and parses to the value that JSON.parse picks', () => {
    fc.assert(
      fc.property(space, fc.array(member, { maxLength: 6 }), names, (edge, members, name) => {
        const text = `${edge}{${members.map((m) => m.text).join(',') || edge}}${edge}`;
        const parsed = JSON.parse(text) as Record<string, unknown>;

        const found = slice(text, name);

        expect(found).toBe(members.findLast((m) => m.key === name)?.value ?? null);
        expect(found !== null).toBe(Object.hasOwn(parsed, name));
        if (found !== null) expect(JSON.parse(found)).toEqual(Object.getOwnPropertyDescriptor(parsed, name)?.value);
      }),
      { numRuns: 2000 },
    );
  });
});
