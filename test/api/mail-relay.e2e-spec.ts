import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { Dialer } from '../../src/egress/dialer.js';
import type { EgressGate } from '../../src/egress/gate.js';
import { Names } from '../../src/egress/names/names.js';
import { egressPolicy } from '../../src/engine/egress-policy.js';
import { compose, type ComposedAttachment, type ComposedMessage } from '../../src/mail/compose.js';
import { SmtpTransport } from '../../src/mail/smtp.js';
import { eventually } from '../durability/processes.js';
import { dkimVerdicts, hasDkimpy, publishedKey } from '../support/dkim-verifiers.js';
import { isPostfixInstalled, Postfix } from '../support/postfix.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const SIGNER = { selector: 's1', privateKey, domain: 'example.com' };
const ENVELOPE = { mailFrom: () => 'bounce@example.com' };
const MESSAGE: ComposedMessage = {
  messageId: '<evt_1@example.com>',
  date: new Date(),
  from: { name: '', address: 'ada@example.com' },
  to: [{ name: '', address: 'b@example.org' }],
  cc: [],
  replyTo: [],
  subject: 'Gr\u00f6\u00dfe \u{1f4e6}',
  html: null,
  text: 'Hello',
  headers: {},
  attachments: [],
};
const nested = (content: string): ComposedAttachment => ({
  filename: 'm.eml',
  contentType: 'message/rfc822',
  content: Buffer.from(content),
  contentId: null,
});
const KEY = publishedKey('s1', 'example.com', publicKey);

(isPostfixInstalled() && hasDkimpy() ? describe : describe.skip).each([
  ['that offers 8BITMIME and SMTPUTF8', {}],
  ['that offers neither', { hide8BITMIME: true, hideSMTPUTF8: true }],
])('mail over Postfix to a server %s', (_what, hidden) => {
  const arrived: { to: string[]; raw: string; bodyType: string }[] = [];
  let sink: SMTPServer;
  let postfix: Postfix;
  let transport: SmtpTransport;

  beforeAll(async () => {
    sink = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      ...hidden,
      onData: (stream, { envelope }, callback) =>
        void text(stream.setEncoding('latin1')).then((raw) => {
          arrived.push({ to: envelope.rcptTo.map(({ address }) => address), raw, bodyType: envelope.bodyType ?? '' });
          callback();
        }, callback),
    });
    // Ignores errors, because Postfix is stopped while it still forwards messages of earlier tests.
    sink.on('error', () => undefined);
    await new Promise<void>((resolve) => void sink.listen(0, '127.0.0.1', resolve));
    postfix = await Postfix.start((sink.server.address() as AddressInfo).port, {
      'no@example.org': '550 5.1.1 User unknown',
      'later@example.org': '450 4.2.0 Greylisted, try again in 5 minutes',
      'policy@example.org': '554 5.7.1 Denied by policy',
    });
    const policy = egressPolicy({ allowCidrs: ['127.0.0.0/8'], allowHttp: false });
    transport = new SmtpTransport(
      { kind: 'smtp', host: '127.0.0.1', port: postfix.port, isImplicitTls: false, startTls: 'off', login: null },
      new Dialer({ policy: () => policy } as EgressGate, new Names({ servers: [] })),
      { ownName: 'mail.example.com', answerMsMax: 20_000 },
    );
  });

  afterAll(async () => {
    transport?.close();
    await postfix?.stop();
    await new Promise<void>((resolve) => void sink.close(() => resolve()));
  });

  const message = (size: number) =>
    compose({ ...MESSAGE, messageId: `<${size}@example.com>`, text: '.\n..\nGr\u00fc\u00dfe\n'.repeat(size) }, SIGNER);

  it('the message arrives as composed, after the header lines that servers add', async () => {
    const raw = await message(50);

    const report = await transport.submit({
      emailId: 'evt_1',
      raw,
      mailFrom: () => 'bounce@example.com',
      recipients: ['b@example.org', 'c@example.org'],
    });

    expect(report).toMatchObject({ isUnreachable: false, replies: [{ outcome: 'accepted' }, { outcome: 'accepted' }] });
    expect(await eventually(() => arrived.length > 0, 30_000)).toBe(true);
    expect(arrived[0]?.to.sort()).toEqual(['b@example.org', 'c@example.org']);
    expect(arrived[0]?.raw.endsWith(raw.toString('latin1'))).toBe(true);
  });

  it('every composed message arrives with the bytes that were sent, so both verifiers accept its signature', async () => {
    const from = arrived.length;
    const sent = await Promise.all(
      [
        { text: '.\n..\nGr\u00fc\u00dfe \u{1f4e6}\n', html: '<p>Gr\u00fc\u00dfe</p>' },
        { subject: 'x'.repeat(998), text: `${'word '.repeat(5_000)}\n` },
        { headers: { References: Array.from({ length: 60 }, (_, n) => `<${n}@thread.example>`).join(' ') } },
        { attachments: [nested('Subject: Forwarded\r\n\r\nPlain\r\n')] },
        { attachments: [nested('Subject: Forwarded\r\n\r\nGr\u00fc\u00dfe\r\n')] },
      ].map((over) => compose({ ...MESSAGE, ...over }, SIGNER)),
    );

    for (const [index, raw] of sent.entries())
      expect(
        await transport.submit({ ...ENVELOPE, emailId: `evt_${index}`, raw, recipients: [`c${index}@example.org`] }),
      ).toMatchObject({ replies: [{ outcome: 'accepted' }] });

    expect(await eventually(() => arrived.length === from + sent.length, 30_000)).toBe(true);
    for (const [index, raw] of sent.entries()) {
      const found = arrived.find(({ to }) => to[0] === `c${index}@example.org`);
      expect(found?.raw.endsWith(raw.toString('latin1'))).toBe(true);
    }
    const received = arrived.slice(from).map(({ raw }) => Buffer.from(raw, 'latin1'));
    expect(await dkimVerdicts(received, KEY)).toEqual(sent.map(() => ({ dkimpy: true, mailauth: 'pass' })));
  });

  it('a message with 8-bit data is announced, so Postfix forwards it or converts it', async () => {
    const raw = Buffer.from(
      'From: ada@example.com\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\nGr\u00fc\u00dfe\r\n',
    );

    await transport.submit({ ...ENVELOPE, emailId: 'evt_8', raw, recipients: ['eight@example.org'] });

    const find = () => arrived.find(({ to }) => to[0] === 'eight@example.org');
    expect(await eventually(() => find() !== undefined, 30_000)).toBe(true);
    const body = find()?.raw.split('\r\n\r\n')[1];
    expect([find()?.bodyType, body]).toEqual(
      'hide8BITMIME' in hidden
        ? ['7bit', 'Gr=C3=BC=C3=9Fe\r\n']
        : ['8bitmime', Buffer.from('Gr\u00fc\u00dfe\r\n').toString('latin1')],
    );
  });

  it('reads the reply of Postfix for each recipient', async () => {
    const { replies, retryAfterMs } = await transport.submit({
      emailId: 'evt_2',
      raw: await message(1),
      mailFrom: () => 'bounce@example.com',
      recipients: ['d@example.org', 'no@example.org', 'later@example.org', 'policy@example.org'],
    });

    expect(replies.map(({ outcome, code, enhanced }) => [outcome, code, enhanced])).toEqual([
      ['accepted', 250, '2.0.0'],
      ['bounced', 550, '5.1.1'],
      ['deferred', 450, '4.2.0'],
      ['failed', 554, '5.7.1'],
    ]);
    expect(retryAfterMs).toBe(300_000);
  });

  it('treats a message that is too large as a failure of the message', async () => {
    const { replies } = await transport.submit({
      emailId: 'evt_3',
      raw: await message(20_000),
      mailFrom: () => 'bounce@example.com',
      recipients: ['b@example.org'],
    });

    expect(replies).toMatchObject([{ outcome: 'failed' }]);
  });
});
