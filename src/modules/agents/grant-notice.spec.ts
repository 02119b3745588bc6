import { words } from './grant-notice.js';

describe('words', () => {
  it.each([
    ['An assistant', 'An assistant'],
    ['Ассистент 2', 'Ассистент 2'],
    ['Verify at https://evil.example/login now', 'Verify at https evil example login now'],
    ['www.evil.example', 'www evil example'],
    ['a@evil.example', 'a evil example'],
    ['a\r\nBcc: b', 'a Bcc b'],
    ['<b>', 'b'],
    ['…', 'without a name'],
    ['x'.repeat(100), 'x'.repeat(80)],
  ])('%j: contains nothing that a mail program turns into a link', (name, expected) => {
    expect(words(name)).toBe(expected);
  });
});
