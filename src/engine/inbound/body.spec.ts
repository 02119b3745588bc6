import { Buffer } from 'node:buffer';
import { formOf, isForm, jsonOf, memberOf, scalarText } from './body.js';

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
