import fc from 'fast-check';
import { storableJson, storableText } from './storable.js';

describe('storable', () => {
  it.each([
    ['the six characters \\u0000', '\\u0000', '\\u0000'],
    ['seven, with two backslashes', '\\\\u0000', '\\\\u0000'],
    ['U+0000', 'a\0b', 'a\ufffdb'],
    ['an unpaired high surrogate', 'a\ud800', 'a\ufffd'],
    ['an unpaired low surrogate', '\udc00a', '\ufffda'],
    ['surrogates in the wrong order', '\udc00\ud800', '\ufffd\ufffd'],
    ['a pair', '😀', '😀'],
  ])('text: %s', (_, text, expected) => {
    expect(storableText(text)).toBe(expected);
  });

  it('cleans field names and nested values, and keeps the rest', () => {
    const value = { 'a\0': ['\ud800', { b: '\\u0000' }], n: 1.5, none: null, yes: true, at: new Date(0) };

    expect(storableJson(value)).toEqual({
      'a\ufffd': ['\ufffd', { b: '\\u0000' }],
      n: 1.5,
      none: null,
      yes: true,
      at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('any JSON value becomes valid, well-formed JSON without U+0000', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = JSON.stringify(storableJson(value));

        expect(JSON.stringify(storableJson(JSON.parse(text)))).toBe(text);
        expect(/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i.test(text)).toBe(false);
      }),
    );
  });
});
