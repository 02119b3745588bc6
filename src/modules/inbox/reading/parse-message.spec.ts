import { growthOf, LINEAR } from '../../../../test/support/cpu-time.js';
import { attachmentOf, parseMessage } from './parse-message.js';

const HEAD = 'From: Ada <ada@b.example>\r\nTo: a@in.example\r\nSubject: Order\r\n';
const of = (text: string): Buffer => Buffer.from(text);
const isStorable = (value: unknown): boolean =>
  !/\\u0000|\\ud[89a-f][0-9a-f]{2}/i.test(JSON.stringify(value).replace(/\\\\/g, ''));

describe('a message', () => {
  it('is parsed: addresses, texts, headers in their order, files', async () => {
    const raw = of(
      'From: =?utf-8?Q?Ad=C3=A4?= <ada@b.example>\r\nTo: "Support, Acme" <a@in.example>, b@in.example\r\nCc: team: c@in.example, d@in.example;\r\nReply-To: r@b.example\r\n' +
        'Subject: =?utf-8?B?w5ZkZXI=?=\r\nDate: Sat, 21 Nov 2026 09:30:00 +0100\r\nIn-Reply-To: <1@b.example>\r\nReferences: <0@b.example>\r\n <1@b.example>\r\nX-A: 1\r\nX-A: 2\r\nMIME-Version: 1.0\r\n' +
        'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n--y\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe\r\n' +
        '--y\r\nContent-Type: text/html\r\n\r\n<p>hi</p>\r\n--y--\r\n--x\r\nContent-Type: application/pdf; name="a.pdf"\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n--x--\r\n',
    );

    const message = await parseMessage(raw);

    expect(message).toMatchObject({
      from: 'Adä <ada@b.example>',
      to: ['"Support, Acme" <a@in.example>', 'b@in.example'],
      cc: ['c@in.example', 'd@in.example'],
      replyTo: ['r@b.example'],
      subject: 'Öder',
      date: '2026-11-21T08:30:00.000Z',
      inReplyTo: '<1@b.example>',
      references: ['<0@b.example>', '<1@b.example>'],
      html: '<p>hi</p>',
      isTextFromHtml: false,
      isCharsetGuessed: false,
      isTruncated: false,
      parseError: null,
      attachments: [{ filename: 'a.pdf', content_type: 'application/pdf', size_bytes: 4, content_id: null }],
    });
    expect(message.text?.trim()).toBe('Grüße');
    expect(message.headerLines.filter(({ name }) => name === 'x-a').map(({ value }) => value)).toEqual(['1', '2']);
    expect(Buffer.from((await attachmentOf(raw, 0))?.content ?? []).toString()).toBe('%PDF');
    expect(await attachmentOf(raw, 1)).toBeNull();
  });

  it('NUL, unpaired surrogates and control characters are removed from all stored values', async () => {
    const evil = 'a\0b=?utf-16?B?2AA=?= \u0007c';
    const raw = of(
      `From: "${evil}" <ada@b.example>\r\nTo: "${evil}" <a@in.example>\r\nSubject: ${evil}\r\nX-${'Evil'}: ${evil}\r\nMessage-ID: <${evil}>\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\n${evil}\r\n` +
        `--x\r\nContent-Type: text/html; charset=utf-16be\r\nContent-Transfer-Encoding: base64\r\n\r\n2AAAAA==\r\n--x\r\nContent-Type: a/b; name="${evil}"\r\nContent-Disposition: attachment; filename="${evil}"\r\n\r\nx\r\n--x--\r\n`,
    );

    const message = await parseMessage(raw);

    expect(isStorable(message)).toBe(true);
    expect([message.parseError, message.attachments.length]).toEqual([null, 1]);
    expect(isStorable({ a: 'x\0' })).toBe(false);
  });

  it('an invalid date is null, and a message without a From has no author', async () => {
    expect(await parseMessage(of('Date: yesterday\r\nSubject: x\r\n\r\ny'))).toMatchObject({
      date: null,
      from: '',
      to: [],
    });
  });

  it('ids without white space, several headers of one name, and the end of a long thread are kept', async () => {
    const ids = Array.from({ length: 150 }, (_, i) => `<${i}@b.example>`);
    const raw = of(
      `To: a@in.example\r\nTo: b@in.example\r\nCc: c@in.example\r\nCc: d@in.example\r\nReply-To: e@b.example\r\nReply-To: f@b.example\r\nIn-Reply-To: "Re" <149@b.example> of today\r\nIn-Reply-To: <x@b.example>\r\nReferences: ${ids.slice(0, 100).join('')}\r\nReferences: ${ids.slice(100).join(',')}\r\n\r\nhi`,
    );

    expect(await parseMessage(raw)).toMatchObject({
      to: ['a@in.example', 'b@in.example'],
      cc: ['c@in.example', 'd@in.example'],
      replyTo: ['e@b.example', 'f@b.example'],
      inReplyTo: '<149@b.example> <x@b.example>',
      references: [ids[0], ...ids.slice(51)],
      isTruncated: true,
    });
  });

  it.each([
    'text/plain charset=iso-8859-1',
    'text/plain, charset=iso-8859-1',
    'text/plain:charset=iso-8859-1',
    'text / plain; charset=iso-8859-1',
    'TEXT/Plain;;charset="iso-8859-1"',
    'text',
    'text/',
    '/',
    '',
  ])('a content type of %j is a text (RFC 2045, section 5.2)', async (type) => {
    const message = await parseMessage(Buffer.from(`Content-Type: ${type}\r\n\r\nGr\xfc\xdfe\r\n`, 'latin1'));

    expect([message.text, message.attachments]).toEqual(['Grüße\n', []]);
  });

  it.each([
    ['pdf; name=a.pdf', 'application/octet-stream'],
    ['image/png name=a.png', 'image/png'],
  ])('a content type of %j is a file', async (type, shown) => {
    const { text, attachments } = await parseMessage(of(`Content-Type: ${type}\r\n\r\nx\r\n`));

    expect([text, attachments.map(({ content_type }) => content_type)]).toEqual([null, [shown]]);
  });

  it.each([
    'multipart/; boundary=x',
    'multipart//mixed; boundary=x',
    'multipart / mixed; boundary=x',
    '(c)multipart /mixed; boundary=x',
    'multipart; boundary=x',
    'multipart/; boundary=x; name=foo',
    'text; boundary=x',
    'text/plain; boundary=x',
  ])('no part of a part with the content type %j is lost or gets the content of another', async (type) => {
    const file = (name: string): string =>
      `Content-Type: application/pdf; name=${name}.pdf\r\nContent-Disposition: attachment\r\n\r\nPDF-${name}\r\n`;
    const texts = '--x\r\n\r\nhello\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>hi</p>\r\n--x\r\n';
    const inner = `Content-Type: ${type}\r\n\r\n${texts}${file('a')}--x--\r\n`;
    const nested = `Content-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\n${inner}--o\r\n${file('b')}--o\r\n${file('c')}--o--\r\n`;

    for (const [raw, names] of [
      [inner, ['a']],
      [nested, ['a', 'b', 'c']],
    ] as const) {
      const { text, html, attachments, parseError } = await parseMessage(of(raw));
      expect([text, html, parseError]).toEqual(['hello\nhi', expect.stringContaining('<p>hi</p>'), null]);
      expect(attachments.map(({ filename }) => filename)).toEqual(names.map((name) => `${name}.pdf`));
      for (const [i, name] of names.entries())
        expect(Buffer.from((await attachmentOf(of(raw), i))!.content).toString()).toBe(`PDF-${name}`);
    }
  });

  it('comments, routes and obsolete white space are no part of addresses', async () => {
    const raw = of(
      'From: Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>\r\nTo: A Group(Some people)\r\n     :Chris Jones <c@(host)public.example>, joe@example.org (Joe); (end)\r\nCc: (Empty list)(start)Hidden recipients  :(nobody(that I know))  ;\r\nReply-To: "Joe & J. Harvey" <ddd @Org>, <@node.test:mary@x.example>, , jdoe@test   . example\r\n\r\nhi',
    );

    expect(await parseMessage(raw)).toMatchObject({
      from: 'Pete <pete@silly.test>',
      to: ['Chris Jones <c@public.example>', 'Joe <joe@example.org>'],
      cc: [],
      replyTo: ['"Joe & J. Harvey" <ddd@Org>', 'mary@x.example', 'jdoe@test.example'],
    });
  });

  it('empty addresses are left out', async () => {
    const raw = of('From: <>\r\nTo: <>, Ada <>, b@b.example\r\nCc: <>\r\n\r\nhi');

    expect(await parseMessage(raw)).toMatchObject({ from: '', to: ['Ada', 'b@b.example'], cc: [] });
  });

  it('a nested message is an attachment', async () => {
    const message = await parseMessage(
      of(
        `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee below.\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\nsecret\r\n--x--\r\n`,
      ),
    );

    expect([
      message.text?.trim(),
      message.attachments.map(({ filename, content_type: type }) => [filename, type]),
    ]).toEqual(['See below.', [['message-0.eml', 'message/rfc822']]]);
  });
});

describe('a message that attacks the parser', () => {
  const multipart = (parts: string): string =>
    `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n${parts}--x--\r\n`;
  const nested = Array.from(
    { length: 300 },
    (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\r\n\r\n--b${i}\r\n`,
  ).join('');

  it.each<[string, string, object]>([
    [
      '140,000 tables',
      `${HEAD}Content-Type: text/html\r\n\r\n${'<table><tr><td>x</td></tr></table>'.repeat(140_000)}`,
      { isTruncated: true },
    ],
    [
      'a million open tags',
      `${HEAD}Content-Type: text/html\r\n\r\n${'<div>'.repeat(1_000_000)}`,
      { isTruncated: true },
    ],
    [
      '30,000 addresses',
      `From: a@b.example\r\nTo: ${Array.from({ length: 30_000 }, (_, i) => `u${i}@d.example`).join(',\r\n ')}\r\n\r\nhi`,
      { isTruncated: true },
    ],
    [
      '5,000 parts',
      multipart('--x\r\nContent-Type: application/x-a\r\n\r\na\r\n'.repeat(5_000)),
      { isTruncated: true },
    ],
    [
      'a zip file in it',
      multipart(
        '--x\r\nContent-Type: application/zip\r\nContent-Disposition: attachment; filename="42.zip"\r\nContent-Transfer-Encoding: base64\r\n\r\nUEsDBA==\r\n',
      ),
      { attachments: [{ filename: '42.zip', content_type: 'application/zip', size_bytes: 4, content_id: null }] },
    ],
    ['200,000 brackets in From', `From: ${'('.repeat(200_000)}\r\n\r\nhi`, { parseError: null }],
    ['100,000 encoded words', `${HEAD}X-A: ${'=?utf-8?Q?a?= '.repeat(100_000)}\r\n\r\nhi`, { isTruncated: true }],
    ['a million lines', `${HEAD}\r\n${'x\n'.repeat(1_000_000)}`, { isTruncated: true, parseError: null }],
    [
      'a boundary that never ends',
      `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nhi`,
      { parseError: null },
    ],
  ])('%s: it is parsed, and the stored part is bounded', async (_what, text, expected) => {
    const message = await parseMessage(of(text));

    expect(message).toMatchObject(expected);
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(5 * 1024 * 1024);
  });

  it.each<[string, string, object]>([
    [
      'spaces in Date',
      `Date: Sat, 21 Nov 2026 09${' '.repeat(250_000)}30${' '.repeat(250_000)}:00\r\n\r\nhi`,
      { text: 'hi' },
    ],
    [
      'dots in a file name',
      multipart(`--x\r\nContent-Disposition: attachment; filename="a${'.'.repeat(250_000)}b"\r\n\r\nhi\r\n`),
      { attachments: [{ size_bytes: 2 }] },
    ],
    ['encoded words in Subject', `Subject: ${'=?utf-8?Q?a?= '.repeat(100_000)}x\r\n\r\nhi`, { isTruncated: true }],
    ['starts of encoded words', `Subject: ${'=?utf-8?Q?'.repeat(100_000)}\r\n\r\nhi`, { isTruncated: true }],
  ])('%s: it is parsed in linear time', async (_what, text, expected) => {
    expect(await parseMessage(of(text))).toMatchObject(expected);
    expect(await growthOf(text, (part) => parseMessage(of(part)))).toBeLessThan(LINEAR);
  });

  it.each<[string, string]>([
    ['2 MB of headers', `${HEAD}${`X-A: ${'b'.repeat(1_000)}\r\n`.repeat(2_200)}\r\nhi`],
    ['300 levels', `${HEAD}${nested}\r\nhi`],
  ])('%s: it is rejected with a sentence', async (_what, text) => {
    await expect(parseMessage(of(text))).rejects.toThrow(/exceeded|more than/);
  });
});
