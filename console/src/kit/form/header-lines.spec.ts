import { fromLines, toLines } from './header-lines';

describe('fromLines', () => {
  it.each([
    ['', {}],
    ['x-a: 1', { 'x-a': '1' }],
    [' x-a :  a: b \n\nx-b:2', { 'x-a': 'a: b', 'x-b': '2' }],
    ['x-a: 1\nno header', 2],
    [': 1', 1],
  ])('%j', (text, expected) => {
    expect(fromLines(text)).toEqual(expected);
  });

  it('reads lines that `toLines` wrote', () => {
    const headers = { 'x-a': '1', authorization: '(hidden)' };

    expect(fromLines(toLines(headers))).toEqual(headers);
  });
});
