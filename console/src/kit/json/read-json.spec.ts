import { readJson, readObject, writeJson } from './read-json';

describe('readJson', () => {
  it.each([['{"a":1}', { a: 1 }], ['', null], [' \n', null], ['[1]', [1]]])('%j is %j', (text, value) => {
    expect(readJson(text)).toEqual({ value, fault: null });
  });

  it.each([['{\n  "a": 1,\n  b\n}', 3], ['{\n"a": 1', 2], ['{"a": }', 1]])('%j is wrong in line %d', (text, line) => {
    expect(readJson(text)).toEqual({ value: null, fault: { line, message: expect.not.stringMatching(/position|line \d/) } });
  });
});

describe('readObject', () => {
  it.each([['[1]'], ['1'], ['"a"']])('%s is none', (text) => {
    expect(readObject(text, 'no object')).toEqual({ value: null, fault: { line: 1, message: 'no object' } });
  });

  it('what was written is read', () => {
    expect(readObject(writeJson({ a: [1] }), '')).toEqual({ value: { a: [1] }, fault: null });
    expect(writeJson(null)).toBe('');
  });
});
