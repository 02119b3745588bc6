import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { Dialer } from '../../src/egress/dialer.js';
import type { EgressGate } from '../../src/egress/gate.js';
import { Names } from '../../src/egress/names/names.js';
import { egressPolicy } from '../../src/engine/egress-policy.js';
import { compose } from '../../src/mail/compose.js';
import { SmtpTransport } from '../../src/mail/smtp.js';
import { eventually } from '../durability/processes.js';
import { isPostfixInstalled, Postfix } from '../support/postfix.js';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

(isPostfixInstalled() ? describe : describe.skip)('mail over Postfix', () => {
  const arrived: { to: string[]; raw: string }[] = [];
  let sink: SMTPServer;
  let postfix: Postfix;
  let transport: SmtpTransport;

  beforeAll(async () => {
    sink = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      logger: false,
      onData: (stream, session, callback) =>
        void text(stream.setEncoding('latin1')).then((raw) => {
          arrived.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw });
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
    compose(
      {
        messageId: `<${size}@example.com>`,
        date: new Date(),
        from: { name: '', address: 'ada@example.com' },
        to: [{ name: '', address: 'b@example.org' }],
        cc: [],
        replyTo: [],
        subject: 'Größe 📦',
        html: null,
        text: '.\n..\nGrüße\n'.repeat(size),
        headers: {},
        attachments: [],
      },
      { selector: 's1', privateKey, domain: 'example.com' },
    );

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
