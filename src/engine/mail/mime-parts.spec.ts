import { FILE_LIMITS } from './message-files.js';
import { mimePartsOf, walk } from './mime-parts.js';

const HTML = 'Content-Type: text/html\r\n\r\n<p>last</p>';

function multipart(sections: readonly string[], boundary: string): string {
  const framed = sections.flatMap((section) => [`--${boundary}`, section]);
  return [`Content-Type: multipart/mixed; boundary=${boundary}`, '', ...framed, `--${boundary}--`].join('\r\n');
}

describe('mimePartsOf', () => {
  it.each([
    ['more than 64 parts', multipart([...Array<string>(70).fill('\r\ntext'), HTML], 'a')],
    ['more than eight levels', [...'abcdefghi'].reduce((inner, boundary) => multipart([inner], boundary), HTML)],
    [
      'an attached message of many parts',
      multipart(
        [`Content-Type: message/rfc822\r\n\r\n${multipart(Array<string>(600).fill('\r\ntext'), 'b')}`, HTML],
        'a',
      ),
    ],
  ])('finds a part behind %s only with the limits for files', (_what, message) => {
    const htmlOf = (limits?: typeof FILE_LIMITS): string | undefined =>
      [...walk(mimePartsOf(Buffer.from(message), limits))].find(({ type }) => type === 'text/html')?.text;

    expect(htmlOf()).toBeUndefined();
    expect(htmlOf(FILE_LIMITS)).toBe('<p>last</p>');
  });

  it('splits a multipart without its closing boundary, and ignores lines that only begin like a boundary', () => {
    const raw = Buffer.from('Content-Type: multipart/mixed; boundary=b\n\nx\n--b\n\none\n--bb\n--b  \n\ntwo\n');

    expect(mimePartsOf(raw).parts.map(({ text }) => text)).toEqual(['one\n--bb', 'two\n']);
  });
});
