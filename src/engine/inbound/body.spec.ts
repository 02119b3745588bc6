import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { eventJsonOf, formOf, isForm, jsonOf, mayHaveMember, memberOf, PARSED_BYTES_MAX, scalarText } from './body.js';
import { signTwilio, verifyTwilio } from './twilio.js';

describe('memberOf', () => {
  it.each([
    ['a.b', { a: { b: 1 } }, 1],
    ['a.1.b', { a: [0, { b: 'x' }] }, 'x'],
    ['0.event', [{ event: 'open' }], 'open'],
    ['a.b', { a: 'text' }, undefined],
    ['a.b', { a: null }, undefined],
    ['a', undefined, undefined],
    ['constructor.name', {}, undefined],
    ['length', 'text', undefined],
    ['__proto__.a', JSON.parse('{"__proto__":{"a":1}}'), 1],
    ['toString', [], undefined],
  ])('%s of %j', (path, json, expected) => {
    expect(memberOf(json, path)).toBe(expected);
  });
});

it.each([
  ['a', 'a'],
  [0, '0'],
  [false, 'false'],
  [null, undefined],
  [{}, undefined],
  [undefined, undefined],
])('the text of %j is %j', (value, expected) => {
  expect(scalarText(value)).toBe(expected);
});

it('parses JSON whatever the content type, and returns undefined for malformed JSON', () => {
  expect(jsonOf({ body: Buffer.from(' {"a":[1]}') })).toEqual({ a: [1] });
  expect(jsonOf({ body: Buffer.from('{"a":') })).toBeUndefined();
  expect(jsonOf({ body: Buffer.alloc(0) })).toBeUndefined();
});

it('does not parse JSON or forms of over 1 MB, and Twilio cannot sign such a form', () => {
  const type = 'application/x-www-form-urlencoded';
  const form = (size: number) => ({
    headers: [['content-type', type]] as const,
    body: Buffer.from(`payload=1&a=${'x'.repeat(size - 12)}`),
    url: 'https://in.example.com/in/acme/twilio',
  });
  const [largest, tooLarge] = [form(PARSED_BYTES_MAX), form(PARSED_BYTES_MAX + 1)];
  const twilio = (request: typeof largest): boolean => {
    const signed = {
      ...request,
      headers: [...request.headers, ['x-twilio-signature', signTwilio(request, 's')]] as const,
    };
    return verifyTwilio(signed, ['s']);
  };

  expect([jsonOf({ body: Buffer.from(`"${'x'.repeat(PARSED_BYTES_MAX - 2)}"`) }), eventJsonOf(largest)]).toEqual([
    'x'.repeat(PARSED_BYTES_MAX - 2),
    1,
  ]);
  expect([jsonOf({ body: Buffer.from(`"${'x'.repeat(PARSED_BYTES_MAX - 1)}"`) }), eventJsonOf(tooLarge)]).toEqual([
    undefined,
    undefined,
  ]);
  expect([formOf(largest).size, formOf(tooLarge).size]).toEqual([2, 0]);
  expect([twilio(largest), twilio(tooLarge)]).toEqual([true, false]);
});

it.each([
  ['application/x-www-form-urlencoded', true],
  ['Application/X-WWW-Form-Urlencoded ; charset=utf-8', true],
  ['application/x-www-form-urlencoded-not', false],
  ['text/plain', false],
])('%s is a form: %s', (type, expected) => {
  const request = { headers: [['content-type', type]] as const, body: Buffer.from('a=b+c') };

  expect(isForm(request)).toBe(expected);
  expect(formOf(request).get('a')).toBe(expected ? 'b c' : null);
});

describe('mayHaveMember', () => {
  const request = (body: string, type = 'application/json') => ({
    headers: [['content-type', type]] as const,
    body: Buffer.from(body),
  });

  it.each([
    ['{"a":1}', 'a', true],
    ['{"a":{"b":1}}', 'a.b', true],
    ['{"b":1}', 'a', false],
    ['{"b":1}', 'a.b', false],
    [String.raw`{"\u0061":1}`, 'a', true],
    ['[{"b":1}]', '0.b', true],
    [' {"b":1}', 'a', true],
    ['', 'a', true],
  ])('%j for the path %s: %s', (body, path, expected) => {
    expect(mayHaveMember(request(body), path)).toBe(expected);
  });

  it('is true for a form, because its JSON may be in percent-encoding', () => {
    const form = request('{=&payload=%7B%22%61%22%3A1%7D', 'application/x-www-form-urlencoded');

    expect(eventJsonOf(form)).toEqual({ a: 1 });
    expect(mayHaveMember(form, 'a')).toBe(true);
  });

  it('is never false for a member that exists', () => {
    const names = fc.constantFrom('a', 'type', 'é', '0', 'length', 'object_kind');
    const values = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string(),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(names, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    const escaped = fc.constantFrom(
      (text: string) => text,
      (text: string) => text.replaceAll('t', String.raw`\u0074`).replaceAll('é', String.raw`\u00e9`),
    );
    fc.assert(
      fc.property(values, fc.array(names, { minLength: 1, maxLength: 3 }), escaped, (value, path, escape) => {
        const given = request(escape(JSON.stringify(value)));
        const member = memberOf(eventJsonOf(given), path.join('.'));
        return member === undefined || mayHaveMember(given, path.join('.'));
      }),
      { numRuns: 2_000 },
    );
  });
});
