import { textPartOf } from './text-part.js';

describe('the text part of an email', () => {
  it.each<[string, string | null, string | null, string | null]>([
    ['is the given text', '<p>HTML</p>', 'text', 'text'],
    ['is derived from the HTML without a text', '<p>Hello <b>Ada</b></p>', null, 'Hello Ada'],
    ['is absent if the text is empty beside HTML', '<p>HTML</p>', '', null],
    ['is empty if the text is empty and there is no HTML', null, '', ''],
    ['is absent if the HTML has no text', '<img src="cid:a">', null, null],
    ['is absent if the HTML is larger than 128 KB', `<p>${'x'.repeat(128 * 1024)}</p>`, null, null],
    ['is absent if the HTML nests too deeply', '<div>'.repeat(5_000), null, null],
  ])('%s', (_what, html, text, part) => {
    expect(textPartOf({ html, text })).toBe(part);
  });
});
