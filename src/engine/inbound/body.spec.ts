import { Buffer } from 'node:buffer';
import { eventJsonOf, formOf, isForm, jsonOf, memberOf, PARSED_BYTES_MAX, scalarText } from './body.js';
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
