import { changeBetween, withLineFeeds } from './text-change';

describe('changes of a text', () => {
  it.each([
    ['abc', 'abc', { from: 3, to: 3, insert: '' }],
    ['', 'abc', { from: 0, to: 0, insert: 'abc' }],
    ['abc', '', { from: 0, to: 3, insert: '' }],
    ['{"a": 1}', '{"a": 12}', { from: 7, to: 7, insert: '2' }],
    ['aaa', 'aa', { from: 2, to: 3, insert: '' }],
    ['aXb', 'aYb', { from: 1, to: 2, insert: 'Y' }],
  ])('%j to %j', (before, after, change) => {
    expect(changeBetween(before, after)).toEqual(change);
    expect(before.slice(0, change.from) + change.insert + before.slice(change.to)).toBe(after);
  });

  it('line breaks become line feeds, and all other characters stay', () => {
    expect(withLineFeeds('a\r\nb\rc\n\r\n\u2028\\u000d')).toBe('a\nb\nc\n\n\u2028\\u000d');
  });
});
