import { formatJson } from './format-json';

describe('formatJson', () => {
  it.each([
    ['{"a":12345678901234567890}', '{\n  "a": 12345678901234567890\n}'],
    ['[1.10,1e400,-0]', '[\n  1.10,\n  1e400,\n  -0\n]'],
    ['{"a":"\\u0041 \\" : , {"}', '{\n  "a": "\\u0041 \\" : , {"\n}'],
    ['{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'],
    ['{ "a" : [ ] , "b" : { } }', '{\n  "a": [],\n  "b": {}\n}'],
    ['"text"', '"text"'],
    ['null', 'null'],
    ['', null],
    ['{"a":}', null],
    ['amount=1', null],
  ])('%j', (text, expected) => {
    expect(formatJson(text)).toBe(expected);
  });

  it('returns null for JSON that is nested too deeply', () => {
    expect(formatJson('['.repeat(5_000) + ']'.repeat(5_000))).toBeNull();
  });

  it('keeps the characters of a megabyte', () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ key: `value ${i}`, n: i })));

    expect(formatJson(text)?.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
  });
});
