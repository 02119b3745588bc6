import { copyTextOf, isObject } from './copy-text';

describe('copyTextOf', () => {
  it('keeps the payload character for character', () => {
    expect(
      copyTextOf('dst_1', { event_type: 'a', headers: { 'x-y': '"' } }, '{"n":12345678901234567890, "p":1.10}'),
    ).toBe(
      '{"destination":"dst_1","event_type":"a","headers":{"x-y":"\\""},"payload":{"n":12345678901234567890, "p":1.10}}',
    );
  });
});

describe('isObject', () => {
  it.each([
    ['{"a":1}', true],
    [' {"n":12345678901234567890}', true],
    ['[12345678901234567890]', false],
    ['[1]', false],
    ['"a"', false],
    ['a=1', false],
    ['', false],
  ])('%s: %s', (text, expected) => {
    expect(isObject(text)).toBe(expected);
  });
});
