import { attachmentOf, parseMessage } from './parse-message.js';

const HEAD = 'From: Ada <ada@b.example>\r\nTo: a@in.example\r\nMIME-Version: 1.0\r\n';
/** `€ “ ” ’ – …` encoded in windows-1252. In ISO-8859-1, all six bytes are C1 control characters. */
const PUNCTUATION = '\x80 \x93 \x94 \x92 \x96 \x85';
const SHOWN = '€ “ ” ’ – …';
const CYRILLIC_1251 = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]).toString('latin1');

/** Returns the bytes of a text. Each character stands for one byte. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const quotedPrintable = (text: string): string =>
  text.replace(/[^!-<>-~]/g, (c) => `=${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`);
const multipart = (...parts: string[]): Buffer =>
  bytes(
    `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n${parts.map((part) => `--x\r\n${part}\r\n`).join('')}--x--\r\n`,
  );
const file = async (raw: Buffer, index = 0): Promise<string> =>
  Buffer.from((await attachmentOf(raw, index))?.content ?? []).toString('latin1');

describe('transfer encodings', () => {
  it.each([
    ['base64;', 'R3L832U='],
    ['"base64"', 'R3L832U='],
    ['base64 (RFC 2045)', 'R3L832U='],
    ['Quoted-Printable;', 'Gr=FC=DFe'],
    ['quoted-printable; charset=utf-8', 'Gr=FC=DFe'],
    ['8bit', 'Gr\xfc\xdfe'],
    ['', 'Gr\xfc\xdfe'],
  ])('%s is decoded', async (encoding, content) => {
    const type = 'Content-Type: text/plain; charset=iso-8859-1\r\n';

    expect(
      await parseMessage(bytes(`${HEAD}${type}Content-Transfer-Encoding: ${encoding}\r\n\r\n${content}`)),
    ).toMatchObject({ text: 'Grüße' });
  });
});

describe('character sets', () => {
  it.each(['', 'Content-Type: text/plain; charset=iso-2022-jp\r\n', 'Content-Type: text/plain; charset=us-ascii\r\n'])(
    'ISO-2022-JP that is not declared is recognized by its escape sequences: %j',
    async (type) => {
      const word = '\x1b$BF|K\\8l\x1b(B';
      const raw = bytes(`From: ${word} <ada@b.example>\r\nSubject: Re: ${word}\r\n${type}\r\n${word} abc`);

      expect(await parseMessage(raw)).toMatchObject({
        from: '日本語 <ada@b.example>',
        subject: 'Re: 日本語',
        text: '日本語 abc',
        isCharsetGuessed: true,
      });
    },
  );

  it('ASCII with other escape sequences stays as it is', async () => {
    const raw = bytes(`${HEAD}Subject: $B\r\n\r\n\x1b[0mred\x1b(B \x1b$B~`);

    expect(await parseMessage(raw)).toMatchObject({ subject: '$B', text: '[0mred(B $B~', isCharsetGuessed: false });
  });

  it.each(['windows-1252', 'iso-8859-1', 'ISO-8859-1', 'latin1', 'cp1252'])(
    '%s: punctuation above 0x7F is right in subject, names, file names, text and HTML',
    async (charset) => {
      const word = `=?${charset}?Q?${quotedPrintable(PUNCTUATION)}?=`;
      const raw = bytes(
        `From: ${word} <ada@b.example>\r\nTo: "${word}" <a@in.example>\r\nSubject: ${word}\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n` +
          `--x\r\nContent-Type: multipart/alternative; boundary=y\r\n\r\n--y\r\nContent-Type: text/plain; charset=${charset}\r\n\r\n${PUNCTUATION}\r\n` +
          `--y\r\nContent-Type: text/html; charset=${charset}\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${quotedPrintable(PUNCTUATION)}\r\n--y--\r\n` +
          `--x\r\nContent-Type: a/b; name*=${charset}''${encodeURIComponent('x').replace('x', '%80%93%94')}\r\nContent-Disposition: attachment\r\n\r\nx\r\n--x--\r\n`,
      );

      expect(await parseMessage(raw)).toMatchObject({
        from: `"${SHOWN}" <ada@b.example>`,
        to: [`"${SHOWN}" <a@in.example>`],
        subject: SHOWN,
        text: SHOWN,
        html: SHOWN,
        attachments: [{ filename: '€“”' }],
        isCharsetGuessed: false,
      });
    },
  );

  it.each(['us-ascii', 'x-unknown', 'utf-8', 'ansi_x3.4-1968', 'iso-8859-99'])(
    'UTF-8 labelled %s is read as UTF-8, in the text and in a header',
    async (charset) => {
      const raw = bytes(
        `${HEAD}Subject: =?${charset}?B?${Buffer.from('Grüße').toString('base64')}?=\r\nContent-Type: text/plain; charset="${charset}"\r\n\r\n${utf8('Grüße 世界')}\r\n`,
      );

      expect(await parseMessage(raw)).toMatchObject({
        subject: 'Grüße',
        text: 'Grüße 世界\n',
        isCharsetGuessed: false,
      });
    },
  );

  it.each<[string, number[], string]>([
    ['cp850', [0x84, 0x94, 0x81, 0xe1], 'äöüß'],
    ['ibm850', [0x84, 0x94, 0x81, 0xe1], 'äöüß'],
    ['koi8-r', [0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4], 'Привет'],
    ['iso-8859-15', [0xa4], '€'],
    ['shift_jis', [0x93, 0xfa, 0x96, 0x7b], '日本'],
    ['iso-2022-jp', [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x4b, 0x5c, 0x1b, 0x28, 0x42], '日本'],
    ['gb2312', [0xc4, 0xe3, 0xba, 0xc3], '你好'],
    ['euc-kr', [0xb0, 0xa1], '가'],
    ['big5', [0xa7, 0x41], '你'],
  ])('%s is decoded', async (charset, given, text) => {
    const raw = Buffer.concat([
      bytes(`${HEAD}Content-Type: text/plain; charset=${charset}\r\n\r\n`),
      Buffer.from(given),
    ]);

    expect(await parseMessage(raw)).toMatchObject({ text, isCharsetGuessed: false });
  });

  it('a character that is split over two encoded words is put together', async () => {
    const [head, tail] = [Buffer.from('Grü').subarray(0, 3), Buffer.from('üße').subarray(1)];
    const subject = `=?utf-8?B?${head.toString('base64')}?=\r\n =?UTF-8?Q?${quotedPrintable(tail.toString('latin1'))}?=`;

    const message = await parseMessage(bytes(`From: ${subject} <a@b.example>\r\nSubject: ${subject}\r\n\r\nx`));

    expect(message).toMatchObject({ subject: 'Grüße', from: 'Grüße <a@b.example>' });
  });

  it.each<[string, string, string, string]>([
    ['latin-1', '', 'J\xfcrgen M\xfcller', 'Jürgen Müller'],
    ['windows-1251', '', CYRILLIC_1251, 'Привет'],
    ['KOI8-R', '', '\xf0\xd2\xc9\xd7\xc5\xd4', 'Привет'],
    [
      'windows-1250 as the text declares',
      'Content-Type: text/plain; charset=windows-1250\r\n',
      '\xa3\xf3d\x9f',
      'Łódź',
    ],
  ])('raw %s in names and headers is detected, and flagged', async (_what, header, name, shown) => {
    const raw = bytes(`From: ${name} <ada@b.example>\r\nSubject: ${name}\r\nX-Name: ${name}\r\n${header}\r\nx`);

    const message = await parseMessage(raw);

    expect(message).toMatchObject({ from: `${shown} <ada@b.example>`, subject: shown, isCharsetGuessed: true });
    expect(message.headerLines).toContainEqual({ name: 'x-name', value: shown });
  });

  it('raw UTF-8 in names and headers is not flagged', async () => {
    expect(await parseMessage(bytes(`From: ${utf8('Zoë')} <a@b.example>\r\n\r\nx`))).toMatchObject({
      from: 'Zoë <a@b.example>',
      isCharsetGuessed: false,
    });
  });

  it('a text without a character set is guessed, and flagged', async () => {
    expect(await parseMessage(bytes(`${HEAD}\r\nGr\xfc\xdfe, caf\xe9 \x80 5`))).toMatchObject({
      text: 'Grüße, café € 5',
      isCharsetGuessed: true,
    });
    expect(await parseMessage(bytes(`${HEAD}\r\n${CYRILLIC_1251} ${CYRILLIC_1251}`))).toMatchObject({
      text: 'Привет Привет',
      isCharsetGuessed: true,
    });
  });

  it('a character set is guessed from the bytes above ASCII, also if they follow a long English text', async () => {
    expect(await parseMessage(bytes(`${HEAD}\r\n${'A line.\r\n'.repeat(2_000)}a prot\xe9g\xe9`))).toMatchObject({
      text: expect.stringMatching(/a protégé$/),
      isCharsetGuessed: true,
    });
  });

  it.each([
    '<meta charset=windows-1251>',
    '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
  ])('HTML with its character set only in %s is decoded by it', async (meta) => {
    const raw = bytes(
      `${HEAD}Content-Type: text/html\r\n\r\n<html><head>${meta}</head><body>${CYRILLIC_1251}</body></html>`,
    );

    const message = await parseMessage(raw);

    expect([message.html?.includes('Привет'), message.text, message.isCharsetGuessed]).toEqual([true, 'Привет', false]);
  });

  it('UTF-7 and other transfer encodings are not decoded as character sets', async () => {
    const raw = bytes(`${HEAD}Content-Type: text/html; charset=utf-7\r\n\r\n+ADw-script+AD4-`);

    expect((await parseMessage(raw)).html).toBe('+ADw-script+AD4-');
  });
});

describe('files', () => {
  const binary = Array.from({ length: 1_024 }, (_, i) => String.fromCharCode((i * 7) % 256)).join('');
  const lines = 'first\r\n\r\n  second = x \r\n.\r\n\r\nlast';

  it.each<[string, string, string]>([
    ['7bit', lines, lines],
    ['8bit', `${lines}\xfc\xe9`, `${lines}\xfc\xe9`],
    ['binary', binary, binary],
    ['quoted-printable', quotedPrintable(binary).replace(/.{60,72}(?=\=|$)/g, '$&=\r\n'), binary],
    ['quoted-printable', 'a=20=\r\n b=0D=0A\r\nc =\r\n', 'a  b\r\n\r\nc '],
    ['base64', Buffer.from(binary, 'latin1').toString('base64').replace(/.{76}/g, '$&\r\n'), binary],
    ['BASE64', Buffer.from(binary, 'latin1').toString('base64'), binary],
  ])('%s: an attachment is returned byte for byte', async (encoding, encoded, content) => {
    const part = (type: string): string =>
      `Content-Type: ${type}\r\nContent-Disposition: attachment; filename=a\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${encoded}`;
    const raw = multipart('\r\nhi', part('application/octet-stream'), part('text/plain; charset=utf-16'));

    const { attachments } = await parseMessage(raw);

    expect(attachments).toMatchObject([
      { content_type: 'application/octet-stream', size_bytes: content.length },
      { content_type: 'text/plain', size_bytes: content.length },
    ]);
    expect([await file(raw, 0), await file(raw, 1)]).toEqual([content, content]);
  });

  it.each([
    ['Content-Disposition: INLINE; filename=a.pdf', 'inline'],
    ['Content-Disposition: attachment; filename=a.pdf\r\nContent-ID: <a>', 'attachment'],
    ['Content-Disposition: form-data; name=a\r\nContent-ID: <a>', 'attachment'],
    ['Content-ID: <a>', 'inline'],
    ['Content-Description: a', 'attachment'],
  ])('an attachment with the headers %j is %s', async (headers, disposition) => {
    const raw = multipart('\r\nhi', `Content-Type: application/pdf\r\n${headers}\r\n\r\n%PDF`);

    expect((await parseMessage(raw)).attachments).toMatchObject([{ content_disposition: disposition }]);
  });

  it('a large attachment is returned byte for byte, wherever the parser splits it', async () => {
    const content = Array.from({ length: 40_000 }, (_, i) => `${i}\r\n${'\r\n'.repeat(i % 3)}`).join('');
    const raw = multipart(`Content-Disposition: attachment\r\n\r\n${content}`);

    expect((await parseMessage(raw)).attachments).toMatchObject([{ size_bytes: content.length }]);
    expect(await file(raw)).toBe(content);
  });

  it.each(['', 'Content-Disposition: inline\r\n', 'Content-Disposition: attachment; filename=m.eml\r\n'])(
    'message/rfc822 (%j) is an attachment, byte for byte',
    async (disposition) => {
      const inner = 'Subject: inner\r\nContent-Type: multipart/mixed; boundary=z\r\n\r\n--z\r\n\r\nsecret\r\n--z--\r\n';
      const raw = multipart('\r\nhi', `Content-Type: message/rfc822\r\n${disposition}\r\n${inner}`);

      const message = await parseMessage(raw);

      expect([message.text, message.attachments.length, await file(raw)]).toEqual(['hi', 1, inner]);
    },
  );

  it('message/rfc822 in base64 is decoded', async () => {
    const raw = multipart(
      `Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from('Subject: x\r\n\r\ny').toString('base64')}`,
    );

    expect(await file(raw)).toBe('Subject: x\r\n\r\ny');
  });

  it.each<[string, string]>([
    [
      'a named inline text',
      'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: inline; filename=a.txt\r\n',
    ],
    ['a named inline HTML', 'Content-Type: text/html\r\nContent-Disposition: inline; filename="a.txt"\r\n'],
    ['a text with only name=', 'Content-Type: text/plain; name=a.txt\r\n'],
    ['a text with only name*=', "Content-Type: text/plain; name*=utf-8''a.txt\r\n"],
    ['a text with an unknown disposition', 'Content-Disposition: x-what; filename=a.txt\r\n'],
  ])('%s is an attachment', async (_what, header) => {
    const message = await parseMessage(multipart('\r\nhi', `${header}\r\nfile`));

    expect([message.text, message.attachments.map(({ filename, size_bytes: size }) => [filename, size])]).toEqual([
      'hi',
      [['a.txt', 4]],
    ]);
  });

  it.each<[string, string, string]>([
    ['raw UTF-8', utf8('filename="Übersicht.pdf"'), 'Übersicht.pdf'],
    ['raw latin-1', 'filename="\xdcbersicht.pdf"', 'Übersicht.pdf'],
    ['encoded words', 'filename="=?iso-8859-1?Q?=DCbersicht=2Epdf?="', 'Übersicht.pdf'],
    ['RFC 2231', "filename*=utf-8''%C3%9Cbersicht.pdf", 'Übersicht.pdf'],
    ['a percent sign in RFC 2231', "filename*=UTF-8''100%.pdf", '100%.pdf'],
    ['a percent sign before letters', "filename*=UTF-8''50%zz=_.pdf", '50%zz=_.pdf'],
    ['RFC 2231 without a character set', "filename*=''%C3%9C.pdf", 'Ü.pdf'],
    ['RFC 2231 with an asterisk', "filename*=UTF-8''a*b.pdf", 'a_b.pdf'],
    ['a plain name with a percent sign', 'filename="100%20*.pdf"', '100%20_.pdf'],
    [
      'RFC 2231 with a piece that is not encoded',
      `filename*2="e%20.pdf"; filename*0*=UTF-8''Gr%C3; filename*1*=%BC%C3%9F`,
      'Grüße%20.pdf',
    ],
    ['RFC 2231 beside a plain name', "filename=a.pdf; filename*=UTF-8''b.pdf", 'b.pdf'],
    ['RFC 2231 in pieces', "filename*0*=utf-8''%C3%9Cber; filename*1=sicht.pdf", 'Übersicht.pdf'],
    ['encoded words in RFC 2231, which are text', "filename*=utf-8''a%3D%3Futf-8%3FQ%3Fb%3F%3D", 'a=_utf-8_Q_b_='],
  ])('the file name in %s is decoded', async (_what, parameter, filename) => {
    const raw = multipart(`Content-Disposition: attachment;\r\n ${parameter}\r\n\r\nx`);

    expect((await parseMessage(raw)).attachments).toMatchObject([{ filename }]);
  });

  it('the declared content type is kept, also if the file name suggests another', async () => {
    const raw = multipart(
      'Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=a.pdf\r\n\r\nx',
    );

    expect((await parseMessage(raw)).attachments).toMatchObject([{ content_type: 'application/octet-stream' }]);
  });

  it('a footer after the padding of base64 is not decoded', async () => {
    const footer = '\r\n________________\r\nlist mailing list\r\nlist@lists.example\r\n';
    const raw = multipart(
      `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from('Hello').toString('base64')}${footer}`,
      `Content-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from('file').toString('base64')}${footer}`,
    );

    const { text, attachments } = await parseMessage(raw);

    expect([text, attachments[0]?.size_bytes, await file(raw)]).toEqual(['Hello', 4, 'file']);
  });
});

describe('text and HTML', () => {
  it('format=flowed: paragraphs are joined within a quote depth, and quotes stay quotes', async () => {
    const raw = bytes(
      `${HEAD}Content-Type: text/plain; format=flowed\r\n\r\n> one \r\n> two\r\n>> deep \r\n> three\r\nmy \r\nanswer\r\n  stuffed\r\n-- \r\nAda\r\n`,
    );

    expect((await parseMessage(raw)).text).toBe('> one two\n>> deep \n> three\nmy answer\n stuffed\n-- \nAda\n');
  });

  it('format=flowed; delsp=yes: the space at the end of a line is removed', async () => {
    const raw = bytes(
      `${HEAD}Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\r\n\r\n${utf8('日本 \r\n語')}`,
    );

    expect((await parseMessage(raw)).text).toBe('日本語');
  });

  it('a multipart without a boundary has a parse_error, and its text is kept', async () => {
    const message = await parseMessage(
      bytes(`${HEAD}Subject: x\r\nContent-Type: multipart/mixed\r\n\r\n${utf8('Grüße')}\r\n`),
    );

    expect(message).toMatchObject({ subject: 'x', from: 'Ada <ada@b.example>', text: 'Grüße\n' });
    expect(message.parseError).toMatch(/no boundary/);
  });

  it('a multipart/related without a boundary has a parse_error, and its text is kept', async () => {
    const message = await parseMessage(bytes(`${HEAD}Content-Type: multipart/related\r\n\r\nhello\r\n`));

    expect(message).toMatchObject({ text: 'hello\n', attachments: [] });
    expect(message.parseError).toMatch(/no boundary/);
  });

  it('a multipart inside another, whose boundary occurs nowhere, has a parse_error, and its text is kept', async () => {
    const message = await parseMessage(
      multipart('\r\nfirst', 'Content-Type: multipart/mixed; boundary=other\r\n\r\nsecond', '\r\nthird'),
    );

    expect(message.text).toMatch(/^first\nsecond\n+third$/);
    expect(message.parseError).toMatch(/boundary occurs nowhere/);
  });

  it('a message with only HTML has a text derived from it, and says so', async () => {
    const raw = bytes(
      `${HEAD}Content-Type: text/html\r\n\r\n<style>p{}</style><h1>Hello</h1><p>See <a href="https://x.example/">here</a> &amp; there<br>now</p><img src="cid:a" alt="x">`,
    );

    expect(await parseMessage(raw)).toMatchObject({
      text: 'Hello\n\nSee here [https://x.example/] & there\nnow',
      isTextFromHtml: true,
    });
  });

  it('HTML that nests too deeply has an empty text, and the message is truncated', async () => {
    const deep = await parseMessage(bytes(`${HEAD}Content-Type: text/html\r\n\r\n${'<div>'.repeat(1_000)}hi`));
    const flat = await parseMessage(bytes(`${HEAD}Content-Type: text/html\r\n\r\n${'<div>hi</div>'.repeat(1_000)}`));

    expect([deep.text, deep.isTruncated, flat.isTruncated]).toEqual(['', true, false]);
  });

  it('an empty text beside HTML is replaced by one that is derived from it', async () => {
    const raw = bytes(
      `${HEAD}Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n\r\n \r\n--x\r\nContent-Type: text/html\r\n\r\n<p>hi</p>\r\n--x--\r\n`,
    );

    expect(await parseMessage(raw)).toMatchObject({ text: 'hi', html: '<p>hi</p>', isTextFromHtml: true });
  });

  it('text parts and HTML parts in sequence are both in the text, or only the text parts if none is derived', async () => {
    const raw = bytes(
      `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nplain\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>hi</p>\r\n--x\r\n\r\nend\r\n--x--\r\n`,
    );
    const html =
      '<div style="white-space:pre-wrap">plain</div><br/>\n<p>hi</p><br/>\n<div style="white-space:pre-wrap">end</div>';

    expect(await parseMessage(raw)).toMatchObject({ text: 'plain\nhi\nend', html, isTextFromHtml: true });
    expect(await parseMessage(raw, { isSent: true })).toMatchObject({
      text: 'plain\nend',
      html,
      isTextFromHtml: false,
    });
  });

  it('only HTML has no text if none is derived', async () => {
    const raw = bytes(`${HEAD}Content-Type: text/html\r\n\r\n<p>hi</p>`);

    expect(await parseMessage(raw, { isSent: true })).toMatchObject({ text: null, html: '<p>hi</p>' });
  });

  it.each([
    ['another text', 'a', 'Content-Type: text/plain; charset=windows-1251\r\n\r\nb'],
    ['an encoded word in a header', '=?windows-1251?Q?=E4=E0?=', '\r\nb'],
  ])('a short text and a file name are in the character set that %s declares', async (_where, subject, part) => {
    const message = await parseMessage(
      bytes(
        `Subject: ${subject}\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain; charset=us-ascii\r\n\r\n\xe4\xe0\r\n--x\r\n${part}\r\n--x\r\nContent-Disposition: attachment; filename="\xe4\xe0.txt"\r\n\r\nx\r\n--x--\r\n`,
      ),
    );

    expect(message).toMatchObject({ text: 'да\nb', isCharsetGuessed: true, attachments: [{ filename: 'да.txt' }] });
  });

  it('a text is not derived if there is one, and a message without text or HTML has neither', async () => {
    const both = bytes(
      `${HEAD}Content-Type: multipart/alternative; boundary=x\r\n\r\n--x\r\n\r\nplain\r\n--x\r\nContent-Type: text/html\r\n\r\n<p>hi</p>\r\n--x--\r\n`,
    );
    const neither = bytes(`${HEAD}Content-Type: image/png\r\n\r\nx`);

    expect(await parseMessage(both)).toMatchObject({ text: 'plain', isTextFromHtml: false });
    expect(await parseMessage(neither)).toMatchObject({ text: null, html: null, isTextFromHtml: false });
  });

  it('a text after the HTML, such as the footer of a mailing list, is in the text and in the HTML', async () => {
    const message = await parseMessage(
      multipart('Content-Type: text/html\r\n\r\n<p>hi</p>', 'Content-Type: text/plain\r\n\r\n<list>'),
    );

    expect(message).toMatchObject({
      text: 'hi\n<list>',
      html: '<p>hi</p><br/>\n<div style="white-space:pre-wrap">&lt;list&gt;</div>',
    });
  });
});

describe('replies', () => {
  it('the reply and the signature are beside the full text', async () => {
    const raw = bytes(
      `${HEAD}\r\nYes, please.\r\n\r\n-- \r\nAda\r\n\r\nOn Fri, 21 Nov 2026 at 09:30, Bob <b@b.example> wrote:\r\n> Shall I?\r\n`,
    );

    expect(await parseMessage(raw)).toMatchObject({
      text: expect.stringContaining('> Shall I?'),
      replyText: 'Yes, please.',
      signature: 'Ada',
    });
  });

  it('a message that quotes nothing stores no second copy of its text', async () => {
    expect(await parseMessage(bytes(`${HEAD}\r\nHello\r\n`))).toMatchObject({ replyText: null, signature: null });
  });
});
