import { messageFilesOf } from './message-files.js';

const message = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1');

it('finds the files of a multipart with their names and sizes after decoding', () => {
  const raw = message(
    'Content-Type: multipart/mixed; boundary=outer',
    '',
    'A preamble.',
    '--outer',
    'Content-Type: multipart/alternative; boundary="inner one"',
    '',
    '--inner one',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'Gr=C3=BC=C3=9F=',
    'e',
    '--inner one',
    'Content-Type: text/html',
    '',
    '<p>Hello</p>',
    '--inner one--',
    '--outer',
    'Content-Type: application/pdf; name="plain.pdf"',
    'Content-Disposition: attachment; filename="plain.pdf"; filename*=utf-8\'\'gr%C3%BC%C3%9Fe.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.alloc(100, 7).toString('base64'),
    '--outer',
    'Content-Type: text/plain; name="=?utf-8?Q?notes=2Etxt?="',
    '',
    'abc',
    '--outer',
    'Content-Type: message/rfc822',
    '',
    'Subject: inside',
    '',
    'x',
    '--outer--',
  );

  expect(messageFilesOf(raw)).toEqual({
    files: [
      { filename: 'grüße.pdf', contentType: 'application/pdf', sizeBytes: 100 },
      { filename: 'notes.txt', contentType: 'text/plain', sizeBytes: 3 },
      { filename: 'attachment', contentType: 'message/rfc822', sizeBytes: 20 },
    ],
    textBytesMax: 12,
  });
});

it('joins the continuations of a name, and treats a single part as a body or as a file', () => {
  const named = message(
    'Content-Type: image/png',
    "Content-Disposition: inline; filename*0*=utf-8''a%20long; filename*1*=%20name; filename*2=%20100%.png",
    '',
    'x',
  );

  expect(messageFilesOf(named)?.files).toEqual([
    { filename: 'a long name%20100%.png', contentType: 'image/png', sizeBytes: 3 },
  ]);
  expect(messageFilesOf(message('Subject: x', '', 'Hello'))).toEqual({ files: [], textBytesMax: 7 });
});

it.each(['base64;', '"base64"', 'BASE64 (RFC 2045)'])('measures content in %s after decoding', (encoding) => {
  const raw = message('Content-Type: a/b', `Content-Transfer-Encoding: ${encoding}`, '', 'YWJj');

  expect(messageFilesOf(raw)?.files).toMatchObject([{ sizeBytes: 3 }]);
});

it('returns null for more than 500 parts or 10 levels', () => {
  const parts = Array.from({ length: 501 }, () => '--b\r\n\r\nx');
  const levels = Array.from(
    { length: 40 },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\r\n\r\n--b${level}`,
  );

  expect(messageFilesOf(message('Content-Type: multipart/mixed; boundary=b', '', ...parts, '--b--'))).toBeNull();
  expect(messageFilesOf(message(...levels, '', 'x'))).toBeNull();
});
