import { headerValueFaults, valueFaults } from './secret-values.js';

describe('valueFaults', () => {
  it.each<[string, string, number]>([
    ['a character', 'a', 0],
    ['several lines', '-----BEGIN KEY-----\r\nabc\n', 0],
    ['16 KB', 'x'.repeat(16_384), 0],
    ['a byte more', 'x'.repeat(16_385), 1],
    ['a few multi-byte characters', '😀'.repeat(4097), 1],
  ])('%s', (_what, value, count) => {
    expect(valueFaults(value)).toHaveLength(count);
  });
});

describe('headerValueFaults', () => {
  it.each([
    ['tok_1', 0],
    ['a b', 0],
    ['é', 0],
    ['a\nb', 1],
    ['a\r\nb: c', 1],
    ['a\0', 1],
    [' a', 1],
    ['a\t', 1],
    ['漢', 1],
    ['x'.repeat(8193), 1],
  ])('%j has %i', (value, count) => {
    const faults = headerValueFaults(value);

    expect(faults.map(({ path }) => path)).toEqual(Array.from({ length: count }, () => 'value'));
    expect(JSON.stringify(faults)).not.toContain('漢');
  });
});
