import { attachmentOf, parseMessage } from './parse-message.js';

const HEAD = 'From: Ada <ada@b.example>\r\nSubject: x\r\n';
const multipart = (subtype: string, ...parts: string[]): Buffer =>
  Buffer.from(
    `${HEAD}Content-Type: multipart/${subtype}; boundary=BB\r\n\r\n${parts.map((part) => `--BB\r\n${part}\r\n`).join('')}--BB--\r\n`,
  );

describe('a missing empty line before the body', () => {
  it.each([
    ['only text', 'first line of text\r\nsecond line', 'first line of text\nsecond line'],
    ['text with an empty line', 'first line\r\n\r\nsecond line', 'first line\n\nsecond line'],
    ['a header', 'Content-Type: text/plain\r\nHello there\r\nmore', 'Hello there\nmore'],
    ['text with a colon', 'Content-Type: text/plain\r\nHello there\r\nNote: more', 'Hello there\nNote: more'],
    ['a name with a space', 'Dear Ada: hello', 'Dear Ada: hello'],
    ['a text that starts with From', 'From here on\r\nmore', 'From here on\nmore'],
    ['a transfer encoding', 'Content-Transfer-Encoding: base64\r\nSGVsbG8=', 'Hello'],
    ['an indented line', 'Hello\r\n  there', 'Hello\n  there'],
    ['a part with only headers', 'Content-Type: text/plain', ''],
  ])('in a part is tolerated: %s', async (_name, part, text) => {
    expect(await parseMessage(multipart('mixed', part))).toMatchObject({ text, attachments: [], parseError: null });
  });

  it('in the first of two parts is tolerated', async () => {
    const raw = multipart('mixed', 'first', 'Content-Type: text/plain\r\n\r\nsecond');

    expect(await parseMessage(raw)).toMatchObject({ text: 'first\nsecond', parseError: null });
  });

  it('in an alternative and in a file is tolerated', async () => {
    const raw = multipart('alternative', 'Content-Type: text/plain\r\nHi', 'Content-Type: text/html\r\n<p>Hi</p>');
    const file = multipart('mixed', 'Content-Type: a/b\r\nContent-Disposition: attachment; filename=a.b\r\nbytes');

    expect(await parseMessage(raw)).toMatchObject({ text: 'Hi', html: '<p>Hi</p>', attachments: [] });
    expect(await parseMessage(file)).toMatchObject({ text: null, attachments: [{ filename: 'a.b', size_bytes: 5 }] });
    expect(Buffer.from((await attachmentOf(file, 0))?.content ?? []).toString()).toBe('bytes');
  });

  it.each([
    ['at the end', `${HEAD}Hello this is the body\r\n`, 'Hello this is the body\n'],
    ['before an empty line', `${HEAD}Hello\n\nmore\n`, 'Hello\n\nmore\n'],
    ['of a message without headers', 'Hello\r\nmore\r\n', 'Hello\nmore\n'],
    ['in an mbox file', `From ada@b.example Sat Nov 21\r\n${HEAD}Hello\r\n`, 'Hello\n'],
  ])('in the message is tolerated: %s', async (_name, raw, text) => {
    const message = await parseMessage(Buffer.from(raw));

    expect(message).toMatchObject({ text, parseError: null });
    expect(message.headerLines.every(({ name }) => ['from', 'subject'].includes(name))).toBe(true);
  });
});

describe('a faulty line in the header section', () => {
  it.each([
    ['the line of an mbox file', `From ada@b.example Sat Nov 21\r\n${HEAD}\r\nHello`],
    ['a line that is no header, before other headers', `Oops\r\n${HEAD}\r\nHello`],
    ['a space before the colon', `${HEAD}X-A : 1\r\nOther : 2\r\n\r\nHello`],
    ['a header without a value', `${HEAD}Other:\r\n\r\nHello`],
    ['a folded first line', ` folded\r\n${HEAD}\r\nHello`],
  ])('does not end the section: %s', async (_name, raw) => {
    expect(await parseMessage(Buffer.from(raw))).toMatchObject({ subject: 'x', text: 'Hello', parseError: null });
  });
});
