import { isAscii } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { compose, type ComposedMessage, NotComposed } from './compose.js';

/** Path of a Python interpreter with dkimpy, which few machines have. `.ci/run` sets it up. */
const { POSTHORN_TEST_PYTHON: PYTHON, CI } = process.env;

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = { selector: 's1', privateKey, domain: 'example.com' };

const MESSAGE: ComposedMessage = {
  messageId: '<evt_1@example.com>',
  date: new Date('2026-11-22T15:00:00Z'),
  from: { name: 'Ada Lovelace', address: 'ada@example.com' },
  to: [{ name: '', address: 'bob@example.org' }],
  cc: [],
  replyTo: [],
  subject: 'Hello',
  html: null,
  text: 'Hello Bob',
  headers: {},
  attachments: [],
};

const BYTES = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7919) % 256));
const file = (over: object = {}) => ({
  filename: 'a.bin',
  contentType: 'application/octet-stream',
  content: BYTES,
  contentId: null,
  ...over,
});

const SHAPES: [string, Partial<ComposedMessage>, { domain?: string }?][] = [
  ['plain text', {}],
  ['neither text nor html', { text: null }],
  ['empty text', { text: '' }],
  ['text that ends in empty lines', { text: 'a\n\n\n\n' }],
  ['text of dots and spaces', { text: '.\n..\n . \n  trailing  \t \n.' }],
  ['line ends of every kind', { text: 'a\rb\nc\r\nd\n\re' }],
  ['8-bit text', { text: 'Zoë grüßt 世界 😀\n'.repeat(50) }],
  ['text with NUL and half a character', { text: 'a\0b\ud800c' }],
  ['html only', { text: null, html: '<p>Hällo</p>' }],
  ['html with lines of 5,000 characters', { html: `<p>${'x'.repeat(5000)}</p>` }],
  ['text with lines of 5,000 words', { text: 'word '.repeat(5000) }],
  ['a long subject with emoji', { subject: `${'Ihre Bestellung 📦 ist unterwegs – '.repeat(8)}!` }],
  ['a subject of one long word', { subject: 'x'.repeat(998) }],
  ['a subject of one long word in Greek', { subject: '\u03b1'.repeat(998) }],
  ['a subject that ends in a long word', { subject: `Re: ${'x'.repeat(994)}` }],
  ['a subject of long encoded words', { subject: '=?utf-8?q?hello?= '.repeat(55) }],
  ['an empty subject', { subject: '' }],
  [
    'long runs of spaces',
    {
      subject: `a${' '.repeat(300)}b`,
      from: { name: `A${' '.repeat(200)}da`, address: 'ada@example.com' },
      headers: {
        'X-Spaces': `a${' \t'.repeat(150)}b`,
        'X-End': `${'word '.repeat(14)}${' '.repeat(30)}`,
        References: `<a@example.com>${' '.repeat(300)}<b@example.com>`,
      },
    },
  ],
  ['a subject that ends in spaces', { subject: `${'word '.repeat(13)}${' '.repeat(30)}` }],
  ['a subject of spaces', { subject: ' '.repeat(300) }],
  [
    'names of many kinds',
    {
      from: { name: '"Quotes", commas; and <brackets> \\o/', address: 'ada@example.com' },
      to: [
        { name: '山田太郎', address: 'taro@example.jp' },
        { name: 'bob@elsewhere.example', address: 'bob@example.org' },
      ],
      cc: [{ name: 'Ünal, Ö.', address: 'u@example.org' }],
      replyTo: [
        { name: '', address: 'r1@example.org' },
        { name: 'R 2', address: 'r2@example.org' },
      ],
    },
  ],
  [
    'the longest names and addresses',
    {
      from: { name: 'n'.repeat(256), address: 'ada@example.com' },
      to: Array.from({ length: 50 }, (_, index) => ({
        name: '\u{1f4e6}'.repeat(128),
        address: `${'l'.repeat(60)}${index}@${`${'d'.repeat(60)}.`.repeat(2)}example`,
      })),
    },
  ],
  [
    'fifty recipients',
    { to: Array.from({ length: 50 }, (_, index) => ({ name: `Person ${index}`, address: `p${index}@example.org` })) },
  ],
  [
    'an internationalised domain',
    { from: { name: '', address: 'ada@xn--bcher-kva.example' } },
    { domain: 'xn--bcher-kva.example' },
  ],
  [
    'headers of the caller',
    {
      headers: {
        'List-Unsubscribe': '<https://example.com/u/1>, <mailto:u@example.com>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
        References: '<a@example.com> <b@example.com>',
        'In-Reply-To': '<b@example.com>',
        'X-Reference': `<${'r'.repeat(890)}@example.com> `.repeat(4).trim(),
        'X-Campaign': 'Grüße ☕ '.repeat(40).trim(),
        'X-Word': 'w'.repeat(800),
      },
    },
  ],
  [
    'a long thread',
    { headers: { References: Array.from({ length: 60 }, (_, n) => `<${n}${'r'.repeat(50)}@example.com>`).join(' ') } },
  ],
  ['an attachment', { attachments: [file()] }],
  [
    'attachments with long names',
    {
      attachments: [
        file({ filename: 'f'.repeat(255), contentType: `text/plain; title="${'t'.repeat(230)}"` }),
        file({ filename: '\u6ce8'.repeat(255), contentId: `${'c'.repeat(100)}@example.com` }),
      ],
    },
  ],
  [
    'attachments of all kinds',
    {
      html: '<img src="cid:logo@x">',
      attachments: [
        file({ filename: 'Rechnung März 📎.pdf', contentType: 'application/pdf' }),
        file({ filename: 'logo.png', contentType: 'image/png', contentId: 'logo@x' }),
        file({ filename: 'empty.txt', contentType: 'text/plain', content: Buffer.alloc(0) }),
        file({ filename: '../../etc/passwd', contentType: 'nonsense' }),
        file({
          filename: 'a"b\\c\r\nBcc: x@example.org',
          contentType: 'text/html; charset=utf-8',
          content: Buffer.from('<b>ü</b>\n'),
        }),
        file({
          filename: 'framing',
          contentType: 'multipart/mixed; boundary=x',
          content: Buffer.from('--x\r\n\r\n--x--'),
        }),
      ],
    },
  ],
  [
    'a message in a message',
    {
      attachments: [
        file({
          filename: 'm.eml',
          contentType: 'message/rfc822',
          content: Buffer.from('Subject: x\n\nLines\rof\r\nall\nkinds\n'),
        }),
      ],
    },
  ],
  [
    'a message in a message with lines too long',
    {
      attachments: [
        file({
          filename: 'm.eml',
          contentType: 'message/rfc822',
          content: Buffer.from(`Subject: x\n\n${'x'.repeat(2000)}`),
        }),
      ],
    },
  ],
  [
    'a message in a message with 8-bit characters',
    {
      attachments: [
        file({ filename: 'm.eml', contentType: 'message/rfc822', content: Buffer.from('Subject: x\n\nGrüße\n') }),
      ],
    },
  ],
];

const WITH_HEADERS = SHAPES.findIndex(([shape]) => shape === 'headers of the caller');

/** Python script that verifies each message with dkimpy, parses it with Python's parser, and prints the results. */
const VERIFIER = `
import base64, email, email.policy, json, sys
import dkim
results = []
for each in json.load(sys.stdin):
    raw = base64.b64decode(each["raw"])
    record = each["record"].encode()
    asked = []
    def dnsfunc(name, timeout=5):
        asked.append(name.decode() if isinstance(name, bytes) else name)
        return record
    verifier = dkim.DKIM(raw)
    valid = False
    try:
        valid = verifier.verify(dnsfunc=dnsfunc)
    except Exception as error:
        asked.append(repr(error))
    message = email.message_from_bytes(raw, policy=email.policy.SMTP)
    results.append({
        "shape": each["shape"], "valid": bool(valid), "asked": asked,
        "signed": [name.decode().lower() for name, value in verifier.signed_headers] if valid else [],
        "from": [str(a.addr_spec) for a in message["from"].addresses],
        "to": [str(a.addr_spec) for a in message["to"].addresses] if message["to"] else [],
        "defects": [repr(defect) for part in message.walk() for defect in part.defects],
    })
print(json.dumps(results))
`;

describe('compose', () => {
  it('signs every kind of message so that an independent verifier accepts it and rejects a changed one', async () => {
    const hasVerifier = PYTHON !== undefined && spawnSync(PYTHON, ['-c', 'import dkim']).status === 0;
    if (!hasVerifier && CI !== 'true') {
      process.stdout.write(
        'mail: the DKIM verifier is skipped, there is no dkimpy (set POSTHORN_TEST_PYTHON to a python with it, as .ci/run does).\n',
      );
      return;
    }
    const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
    const messages = await Promise.all(
      SHAPES.map(async ([shape, over, key]) => ({
        shape,
        record,
        raw: await compose({ ...MESSAGE, ...over }, { ...KEY, ...key }),
      })),
    );
    const input = [
      ...messages,
      { shape: 'changed body', record, raw: changed(messages[0]!.raw, 'Hello Bob', 'Hello Eve') },
      {
        shape: 'changed header',
        record,
        raw: changed(messages[WITH_HEADERS]!.raw, 'List-Unsubscribe=One-Click', 'List-Unsubscribe=Two-Click'),
      },
    ].map((each) => ({ ...each, raw: each.raw.toString('base64') }));

    const verified = spawnSync(PYTHON ?? '', ['-c', VERIFIER], {
      input: JSON.stringify(input),
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    });

    const results = JSON.parse(verified.stdout) as {
      shape: string;
      valid: boolean;
      asked: string[];
      signed: string[];
      from: string[];
      to: string[];
      defects: string[];
    }[];
    expect(results.filter(({ valid }) => !valid).map(({ shape }) => shape)).toEqual(['changed body', 'changed header']);
    expect(results.flatMap(({ shape, defects }) => defects.map((defect) => [shape, defect]))).toEqual([]);
    for (const [index, [, over, key]] of SHAPES.entries()) {
      const from = over.from ?? MESSAGE.from;
      expect(results[index]).toMatchObject({
        asked: [`s1._domainkey.${key?.domain ?? 'example.com'}.`],
        from: [from.address],
        to: (over.to ?? MESSAGE.to).map(({ address }) => address),
      });
      expect(results[index]?.signed).toEqual(
        expect.arrayContaining(['from', 'to', 'date', 'message-id', 'mime-version', 'content-type']),
      );
    }
    expect(results[WITH_HEADERS]?.signed).toEqual(
      expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post', 'in-reply-to', 'references']),
    );
  });

  it('signs addresses outside ASCII, which stay in UTF-8, so that an independent verifier accepts them', async () => {
    const hasVerifier = PYTHON !== undefined && spawnSync(PYTHON, ['-c', 'import dkim']).status === 0;
    if (!hasVerifier && CI !== 'true') return;
    const raw = await compose(
      {
        ...MESSAGE,
        from: { name: 'Zoë', address: 'zoë@example.com' },
        to: [
          { name: '用户', address: '用户@xn--r8jz45g.jp' },
          { name: '', address: 'bob@example.org' },
        ],
        replyTo: [{ name: '', address: 'ирина@example.com' }],
      },
      KEY,
    );
    const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
    const input = [raw, changed(raw, '<zo', '<za')].map((bytes, i) => ({
      shape: String(i),
      record,
      raw: bytes.toString('base64'),
    }));

    const verified = spawnSync(PYTHON ?? '', ['-c', VERIFIER], { input: JSON.stringify(input), encoding: 'utf8' });

    expect((JSON.parse(verified.stdout) as { valid: boolean }[]).map(({ valid }) => valid)).toEqual([true, false]);
    expect(raw.toString().split('\r\n\r\n')[0]).toContain('From: =?UTF-8?Q?Zo=C3=AB?= <zoë@example.com>\r\n');
  });

  it.each(SHAPES.map(([shape, over, key = {}]) => [shape, over, key] as const))(
    'writes lines that end in CRLF, of at most 998 bytes, with ASCII headers: %s',
    async (_shape, over, key) => {
      const raw = (await compose({ ...MESSAGE, ...over }, { ...KEY, ...key })).toString('latin1');

      expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
      const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
      expect(head).toMatch(/^[\x20-\x7e\t\r\n]*$/);
      // Some servers end the header section at a line of white space (RFC 5322, section 2.2.3).
      expect(head.split('\r\n').filter((line) => line.trim() === '')).toEqual([]);
      expect(raw).not.toMatch(/^(bcc|file:)/im);
    },
  );

  it.each(SHAPES.map(([shape, over, key = {}]) => [shape, over, key] as const))(
    'is 7-bit, so that no relay has to convert it (RFC 6376, section 5.3): %s',
    async (_shape, over, key) => {
      const raw = await compose({ ...MESSAGE, ...over }, { ...KEY, ...key });

      expect([isAscii(raw), raw.includes(0)]).toEqual([true, false]);
    },
  );

  it.each([998, 2_000])('a subject of %i characters without a space stays the same for a reader', async (length) => {
    const subject = 'abcdefghi'.repeat(300).slice(0, length);

    const raw = await compose({ ...MESSAGE, subject }, KEY);

    expect((await simpleParser(raw)).subject).toBe(subject);
  });

  it.each<[string, string, string, string]>([
    ['7-bit', 'Subject: x\n\nLines\rof\r\nall\nkinds\n', 'message/rfc822', '7bit'],
    ['8-bit', 'Subject: x\n\nGr\u00fc\u00dfe\n', 'application/octet-stream', 'base64'],
    ['with a long line', `Subject: x\n\n${'x'.repeat(999)}\n`, 'application/octet-stream', 'base64'],
    ['with NUL', 'Subject: x\n\n\0\n', 'application/octet-stream', 'base64'],
  ])('a message in a message stays an attachment: %s', async (_what, nested, type, encoding) => {
    const content = Buffer.from(nested);
    const attachment = file({ filename: 'm.eml', contentType: 'message/rfc822', content });

    const raw = (await compose({ ...MESSAGE, attachments: [attachment] }, KEY)).toString('latin1');

    const [, head = '', body = ''] = /(Content-Type: (?:message|application)[^]*?)\r\n\r\n([^]*)\r\n--/.exec(raw) ?? [];
    expect(head).toContain(`Content-Type: ${type}`);
    expect(head).toContain(`Content-Transfer-Encoding: ${encoding}`);
    expect(head).toMatch(/^Content-Disposition: attachment; filename=m\.eml$/m);
    const received = encoding === 'base64' ? Buffer.from(body, 'base64').toString() : body;
    expect(received.split(/\r\n|\r|\n/)).toEqual(nested.split(/\r\n|\r|\n/));
  });

  it('contains what it was given', async () => {
    const raw = await compose(
      {
        ...MESSAGE,
        subject: 'Größe 📦',
        text: 'Zoë\nsays hi\n',
        html: '<p>Zoë</p>',
        cc: [{ name: 'Çelik, "C"', address: 'c@example.org' }],
        headers: { 'X-Campaign': 'Grüße ☕' },
        attachments: [file({ filename: 'März.bin' })],
      },
      KEY,
    );

    const parsed = await simpleParser(raw);
    expect(parsed).toMatchObject({
      subject: 'Größe 📦',
      messageId: MESSAGE.messageId,
      date: MESSAGE.date,
      text: 'Zoë\nsays hi\n',
      html: '<p>Zoë</p>',
    });
    expect(parsed.cc).toMatchObject({ value: [{ name: 'Çelik, "C"', address: 'c@example.org' }] });
    expect(parsed.headers.get('x-campaign')).toBe(`=?UTF-8?B?${Buffer.from('Grüße ☕').toString('base64')}?=`);
    expect(parsed.attachments).toMatchObject([{ filename: 'März.bin', content: BYTES }]);
  });

  it.each([
    '=?utf-8?q?hello?= literal',
    'a =?UTF-8?B?aGVsbG8=?= =?UTF-8?B?aGVsbG8=?=',
    '=?utf-8?q?hello?= Größe',
    '=?',
  ])('keeps the text of an encoded word in the subject: %s', async (subject) => {
    expect(await simpleParser(await compose({ ...MESSAGE, subject }, KEY))).toMatchObject({ subject });
  });

  it('reads neither files nor URLs, whatever the message contains', async () => {
    const raw = await compose(
      {
        ...MESSAGE,
        text: 'file:///etc/passwd',
        html: '<img src="/etc/passwd">',
        attachments: [file({ filename: '/etc/passwd', content: Buffer.from('mine') })],
      },
      KEY,
    );

    expect((await simpleParser(raw)).attachments.map(({ content }) => content.toString())).toEqual(['mine']);
    expect(raw.toString('latin1')).not.toContain('root:');
  });

  it.each<[string, KeyObject]>([
    ['of another kind', generateKeyPairSync('ed25519').privateKey],
    ['that is public', createPublicKey(privateKey)],
    [
      'that is too short',
      createPrivateKey(
        generateKeyPairSync('rsa', {
          modulusLength: 512,
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
          publicKeyEncoding: { type: 'spki', format: 'pem' },
        }).privateKey,
      ),
    ],
  ])('throws with a key %s instead of returning an unsigned message', async (_key, unfit) => {
    await expect(compose(MESSAGE, { ...KEY, privateKey: unfit })).rejects.toThrow(NotComposed);
  });
});

const changed = (raw: Buffer, from: string, to: string): Buffer =>
  Buffer.from(raw.toString('latin1').replace(from, to), 'latin1');
