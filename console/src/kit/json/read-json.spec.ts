import { findLostNumber, readJson, readObject, writeJson } from './read-json';

describe('readJson', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['', null],
    [' \n', null],
    ['[1]', [1]],
  ])('%j is %j', (text, value) => {
    expect(readJson(text)).toEqual({ value, fault: null });
  });

  it.each([
    ['{\n  "a": 1,\n  b\n}', 3],
    ['{\n"a": 1', 2],
    ['{"a": }', 1],
  ])('%j has an error in line %d', (text, line) => {
    expect(readJson(text)).toEqual({
      value: null,
      fault: { line, message: expect.not.stringMatching(/position|line \d/) },
    });
  });
});

describe('numbers that no double can hold', () => {
  it.each([
    ['{"value":\n12345678901234567890}', '12345678901234567890', 2],
    ['[1e400]', '1e400', 1],
    ['[0.12345678901234567890]', '0.12345678901234567890', 1],
    ['-9007199254740993', '-9007199254740993', 1],
  ])('%j is reported, with its line', (text, number, line) => {
    expect(readJson(text)).toEqual({ value: null, fault: { line, message: number, number } });
  });

  it.each([
    ['[1.10,-0,0.0,1e3,100,9007199254740991,1.5e-7,1e21,0.1]'],
    ['{"value":"12345678901234567890","12345678901234567890":"\\\\\\"9007199254740993"}'],
  ])('%j keeps its numbers', (text) => {
    expect(readJson(text).fault).toBeNull();
  });
});

describe('findLostNumber', () => {
  it.each([
    ['{"maximum":\n9223372036854775807}', { line: 2, message: '9223372036854775807', number: '9223372036854775807' }],
    ['openapi: 3.1.0\nmaximum: 9223372036854775807', null],
    ['{"a":', null],
    ['', null],
    ['[1.10]', null],
  ])('%j: %j', (text, fault) => {
    expect(findLostNumber(text)).toEqual(fault);
  });
});

describe('readObject', () => {
  it.each([['[1]'], ['1'], ['"a"']])('%s is not an object', (text) => {
    expect(readObject(text, 'no object')).toEqual({ value: null, fault: { line: 1, message: 'no object' } });
  });

  it('reads values that it wrote', () => {
    expect(readObject(writeJson({ a: [1] }), '')).toEqual({ value: { a: [1] }, fault: null });
    expect(writeJson(null)).toBe('');
  });
});
