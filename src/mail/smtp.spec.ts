import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { jest } from '@jest/globals';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { Dialer } from '#egress/dialer.js';
import type { EgressGate } from '#egress/gate.js';
import { Names } from '#egress/names/names.js';
import { egressPolicy } from '#engine/egress-policy.js';
import type { EmailRelay } from '#kernel/config/email-transport.js';
import type { IncomingMail } from '#modules/inbox/contract.js';
import { type ScriptedMailServer, scriptedMailServer } from '../../test/support/scripted-mail-server.js';
import { CaptureTransport } from './capture.js';
import { type SmtpOptions, SmtpTransport } from './smtp.js';
import { offersSmtpUtf8 } from './smtp-utf8.js';

const TLS = new URL('../../test/support/tls/', import.meta.url);
const CERTIFICATE = readFileSync(new URL('localhost-cert.pem', TLS));
const KEY = readFileSync(new URL('localhost-key.pem', TLS));
const CA = CERTIFICATE.toString();

const RAW = Buffer.from(
  'Subject: x\r\nMessage-ID: <evt_1@example.com>\r\n\r\n.dots\r\n..\r\nGr\xfc\xdfe\r\n',
  'latin1',
);
const SUBMISSION = { emailId: 'evt_1', raw: RAW, mailFrom: () => 'bounce@example.com', recipients: ['b@example.org'] };
const PLAIN: EmailRelay = {
  kind: 'smtp',
  host: '127.0.0.1',
  port: 0,
  isImplicitTls: false,
  startTls: 'off',
  login: null,
};

const ends: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function transportTo(
  relay: Partial<EmailRelay>,
  options: Partial<SmtpOptions> = {},
  allowCidrs = ['127.0.0.0/8'],
): SmtpTransport {
  const policy = egressPolicy({ allowCidrs, allowHttp: false });
  const transport = new SmtpTransport(
    { ...PLAIN, ...relay },
    new Dialer({ policy: () => policy } as EgressGate, new Names({ servers: [] })),
    { ownName: 'mail.example.com', answerMsMax: 20_000, ...options },
  );
  ends.push(() => transport.close());
  return transport;
}

interface Received {
  from: string;
  to: string[];
  raw: Buffer;
  isSecure: boolean;
  user: unknown;
}

async function relay(
  options: SMTPServerOptions = {},
): Promise<{ port: number; received: Received[]; connections: () => number }> {
  const received: Received[] = [];
  let connections = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onConnect: (_session, callback) => {
      connections += 1;
      callback();
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const { mailFrom, rcptTo } = session.envelope;
          received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            raw: Buffer.concat(chunks),
            isSecure: session.secure,
            user: session.user,
          });
          callback();
        });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { port: (server.server.address() as { port: number }).port, received, connections: () => connections };
}

const refusing = (byRecipient: Record<string, string>): SMTPServerOptions => ({
  onRcptTo: ({ address }, _session, callback) => {
    const text = byRecipient[address];
    callback(
      text === undefined ? null : Object.assign(new Error(text.slice(4)), { responseCode: Number(text.slice(0, 3)) }),
    );
  },
});

async function scripted(
  script: (line: string) => string | null | undefined,
  greeting: string | null | undefined = '220 ready',
): Promise<ScriptedMailServer> {
  const server = await scriptedMailServer(script, greeting);
  ends.push(() => server.close());
  return server;
}

const usual =
  (other: Record<string, string | null | undefined> = {}) =>
  (line: string): string | null | undefined => {
    const found = Object.keys(other).find((start) => line.startsWith(start));
    if (found !== undefined) return other[found];
    if (line.startsWith('EHLO')) return '250-relay\r\n250 PIPELINING';
    if (line === 'DATA') return '354 go on';
    return line === 'QUIT' ? '221 bye' : '250 2.0.0 ok';
  };

const NO_ALIASES = {
  recipient: async () => ({ kind: 'refused', answer: { code: 550, enhanced: '5.7.1', text: 'Not here.' } }),
} as unknown as IncomingMail;

describe('capture:', () => {
  it('counts every accepted message as final', async () => {
    const report = await new CaptureTransport(NO_ALIASES).submit({
      ...SUBMISSION,
      recipients: ['b@example.org', 'c@example.org'],
    });

    expect(report).toMatchObject({
      isUnreachable: false,
      isFinal: true,
      replies: [
        { address: 'b@example.org', outcome: 'accepted' },
        { address: 'c@example.org', outcome: 'accepted' },
      ],
    });
  });
});

describe('smtp:', () => {
  it('sends the exact bytes with the given envelope on every attempt', async () => {
    const { port, received, connections } = await relay();
    const transport = transportTo({ port });

    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await transport.submit({ ...SUBMISSION, recipients: ['b@example.org', 'c@example.net'] })).toMatchObject({
        isUnreachable: false,
        isFinal: true,
        replies: [
          { address: 'b@example.org', outcome: 'accepted', code: 250 },
          { address: 'c@example.net', outcome: 'accepted', code: 250 },
        ],
      });
    }

    expect(received).toHaveLength(3);
    for (const each of received)
      expect(each).toMatchObject({ from: 'bounce@example.com', to: ['b@example.org', 'c@example.net'], raw: RAW });
    expect(connections()).toBe(1);
  });

  it('has an empty return path if there is none', async () => {
    const { port, received } = await relay();

    await transportTo({ port }).submit({ ...SUBMISSION, mailFrom: () => '' });

    expect(received).toMatchObject([{ from: '' }]);
  });

  it('reports each recipient separately: accepted, rejected permanently, temporarily, and by a policy', async () => {
    const { port, received } = await relay(
      refusing({
        'no@example.org': '550 5.1.1 User unknown',
        'later@example.org': '450 4.2.0 Greylisted, please try again in 5 minutes',
        'policy@example.org': '554 5.7.1 Rejected by policy',
      }),
    );

    const report = await transportTo({ port }).submit({
      ...SUBMISSION,
      recipients: ['b@example.org', 'no@example.org', 'later@example.org', 'policy@example.org'],
    });

    expect(report).toEqual({
      isUnreachable: false,
      isFinal: true,
      retryAfterMs: 300_000,
      replies: [
        {
          address: 'b@example.org',
          outcome: 'accepted',
          code: 250,
          enhanced: null,
          text: expect.any(String) as string,
        },
        { address: 'no@example.org', outcome: 'bounced', code: 550, enhanced: '5.1.1', text: '550 5.1.1 User unknown' },
        {
          address: 'later@example.org',
          outcome: 'deferred',
          code: 450,
          enhanced: '4.2.0',
          text: '450 4.2.0 Greylisted, please try again in 5 minutes',
        },
        {
          address: 'policy@example.org',
          outcome: 'failed',
          code: 554,
          enhanced: '5.7.1',
          text: '554 5.7.1 Rejected by policy',
        },
      ],
    });
    expect(received).toMatchObject([{ to: ['b@example.org'] }]);
  });

  it('reports them separately also if none is accepted', async () => {
    const { port } = await relay(
      refusing({ 'no@example.org': '550 5.1.1 User unknown', 'later@example.org': '452 4.2.2 Mailbox full' }),
    );

    const { replies, isUnreachable } = await transportTo({ port }).submit({
      ...SUBMISSION,
      recipients: ['no@example.org', 'later@example.org'],
    });

    expect(replies.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['bounced', 550],
      ['deferred', 452],
    ]);
    expect(isUnreachable).toBe(false);
  });

  it.each<[string, Record<string, string | null | undefined>, object, boolean?]>([
    ['a rejected sender', { 'MAIL FROM': '550 5.1.8 Sender rejected' }, { outcome: 'failed', code: 550 }],
    [
      'a rejected message, over several lines',
      { '.': '550-5.7.26 It does not pass\r\n550 5.7.26 authentication checks' },
      { outcome: 'failed', code: 550, text: '550-5.7.26 It does not pass authentication checks' },
    ],
    ['a recipient that is rejected after the message', { '.': '550 5.1.1 User unknown' }, { outcome: 'bounced' }],
    ['a temporary failure', { '.': '451 4.3.0 Temporary failure' }, { outcome: 'deferred', code: 451 }],
    ['421 in the middle', { 'RCPT TO': '421 4.7.0 Too many connections' }, { outcome: 'deferred', code: 421 }],
    [
      '454 to the message',
      { '.': '454 Throttling failure: Maximum sending rate exceeded.' },
      { outcome: 'deferred', code: 454 },
    ],
    [
      'a block list',
      { 'MAIL FROM': '554 5.7.1 Client host [192.0.2.1] blocked using zen.spamhaus.org' },
      { outcome: 'deferred', code: 554 },
    ],
    ['a reset after the last dot', { '.': null }, { outcome: 'deferred', code: 0 }],
    ['a reset at the recipient', { 'RCPT TO': null }, { outcome: 'deferred', code: 0 }],
    [
      'a required login',
      { 'MAIL FROM': '530 5.7.0 Authentication required' },
      { outcome: 'deferred', code: 530 },
      true,
    ],
  ])('reads %s', async (_what, other, reply, isUnreachable = false) => {
    const { port } = await scripted(usual(other));

    const report = await transportTo({ port }).submit(SUBMISSION);

    expect(report).toMatchObject({ isUnreachable, replies: [{ address: 'b@example.org', ...reply }] });
    expect(report.replies).toHaveLength(1);
  });

  it.each<[string, string | null]>([
    ['a rejecting greeting', '554 5.7.1 No service here'],
    ['421 instead of a greeting', '421 4.3.2 Shutting down'],
    ['a reset before the greeting', null],
    ['a server of another protocol', 'HTTP/1.1 400 Bad Request'],
  ])('reports an unreachable transport: %s', async (_what, greeting) => {
    const { port } = await scripted(usual(), greeting);

    expect(await transportTo({ port }).submit(SUBMISSION)).toMatchObject({
      isUnreachable: true,
      replies: [{ outcome: 'deferred' }],
    });
  });

  it('reports an unreachable transport if no server listens, and if the egress policy blocks it', async () => {
    const { port } = await relay();

    expect(await transportTo({ port: 1 }).submit(SUBMISSION)).toMatchObject({
      isUnreachable: true,
      replies: [{ outcome: 'deferred', code: 0 }],
    });
    expect(await transportTo({ port }, {}, []).submit(SUBMISSION)).toMatchObject({
      isUnreachable: true,
      replies: [{ text: expect.stringContaining('EGRESS_ALLOW_CIDRS') as string }],
    });
  });

  it.each<[string, Record<string, undefined>]>([
    ['the last dot', { '.': undefined }],
    ['the recipient', { 'RCPT TO': undefined }],
  ])('times out if the server is silent at %s', async (_where, other) => {
    const { port } = await scripted(usual(other));

    expect(await transportTo({ port }, { totalMs: 300 }).submit(SUBMISSION)).toMatchObject({
      isUnreachable: false,
      replies: [{ outcome: 'deferred', code: 0, text: 'The mail server did not answer in time.' }],
    });
  });

  it.each<[string, Record<string, string | undefined>, string]>([
    ['the greeting', {}, ''],
    ['EHLO', { EHLO: undefined }, '220 ready'],
    ['the sender', { 'MAIL FROM': undefined }, '220 ready'],
    ['the recipient', { 'RCPT TO': undefined }, '220 ready'],
    ['DATA', { DATA: undefined }, '220 ready'],
    ['the last dot', { '.': undefined }, '220 ready'],
  ])(
    'ends the conversation if one reply takes longer than SMTP_ANSWER_TIMEOUT: %s',
    async (_where, other, greeting) => {
      const { port } = await scripted(usual(other), greeting);

      expect(await transportTo({ port }, { answerMsMax: 300, totalMs: 20_000 }).submit(SUBMISSION)).toMatchObject({
        replies: [{ outcome: 'deferred', code: 0, text: 'The mail server did not answer in time.' }],
      });
    },
  );

  it.each(['MAIL FROM', 'RCPT TO', 'DATA', '.'])('names a timeout on a reused connection, too: %s', async (command) => {
    let isSilent = false;
    const { port } = await scripted((line) =>
      isSilent && line.startsWith(command) ? undefined : usual({ EHLO: '250 relay' })(line),
    );
    const transport = transportTo({ port }, { answerMsMax: 300, totalMs: 20_000 });
    await transport.submit(SUBMISSION);
    isSilent = true;

    expect(await transport.submit(SUBMISSION)).toMatchObject({
      isUnreachable: false,
      replies: [{ outcome: 'deferred', code: 0, text: 'The mail server did not answer in time.' }],
    });
  });

  it('waits for the reply to the last dot: a server that has the message gets it only once', async () => {
    let answer = (): void => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    let release = (): void => undefined;
    const { port, received } = await relay({
      onData: (stream, session, callback) => {
        stream
          .on('data', () => undefined)
          .on('end', () => {
            received.push({
              from: '',
              to: session.envelope.rcptTo.map(({ address }) => address),
              raw: RAW,
              isSecure: session.secure,
              user: null,
            });
            release = () => callback();
            answer();
          });
      },
    });
    const submitted = transportTo({ port }, { answerMsMax: 600_000 }).submit(SUBMISSION);
    await asked;
    release();

    expect(await submitted).toMatchObject({ replies: [{ outcome: 'accepted' }] });
    expect(received).toHaveLength(1);
  });

  it('sends the next message after a reset', async () => {
    let resets = 2;
    const { port } = await scripted((line) => (line === '.' && (resets -= 1) >= 0 ? null : usual()(line)));
    const transport = transportTo({ port });

    const outcomes: (string | undefined)[] = [];
    for (let i = 0; i < 3; i += 1) outcomes.push((await transport.submit(SUBMISSION)).replies[0]?.outcome);

    expect(outcomes).toEqual(['deferred', 'deferred', 'accepted']);
  });

  const fresh = false;
  const reused = true;
  const connections = [
    [fresh, 'PIPELINING'],
    [fresh, 'HELP'],
    [reused, 'PIPELINING'],
    [reused, 'HELP'],
  ] as const;

  it.each(connections)(
    'reads the text of a 421, and each reply to RCPT before it (reused: %s, %s)',
    async (isReused, extension) => {
      for (const command of ['MAIL FROM', 'RCPT TO', 'DATA', '.']) {
        let isClosing = !isReused;
        const { port } = await scripted((line) => {
          if (line.startsWith('RCPT TO:<no@')) return '550 5.1.1 User unknown';
          if (isClosing && line.startsWith(command)) return '421-4.7.0 Too many messages,\r\n421 4.7.0 in 5 minutes';
          return usual({ EHLO: `250-relay\r\n250 ${extension}` })(line);
        });
        const transport = transportTo({ port });
        if (isReused) await transport.submit(SUBMISSION);
        isClosing = true;

        const recipients = ['no@example.org', 'b@example.org'];
        const { replies, ...report } = await transport.submit({ ...SUBMISSION, recipients });

        const closing = {
          outcome: 'deferred',
          code: 421,
          enhanced: '4.7.0',
          text: expect.stringContaining('5 minutes'),
        };
        expect([command, report, ...replies]).toMatchObject([
          command,
          { isUnreachable: false, retryAfterMs: 300_000 },
          command === 'MAIL FROM' ? closing : { outcome: 'bounced', code: 550 },
          closing,
        ]);
      }
    },
  );

  it.each<[string, string, string]>([
    ['the greeting', '421 4.3.2 bye', ''],
    ['EHLO', '220 ready', '421 4.3.2 bye'],
  ])('reads the text of a 421 to %s', async (_where, greeting, EHLO) => {
    const { port } = await scripted(usual({ EHLO }), greeting);

    expect((await transportTo({ port }).submit(SUBMISSION)).replies).toMatchObject([
      { outcome: 'deferred', code: 421, text: '421 4.3.2 bye' },
    ]);
  });

  it.each<[string, string, RegExp, Buffer]>([
    ['announces 8-bit data if the server offers it', '250-relay\r\n250 8BITMIME', / BODY=8BITMIME$/, RAW],
    ['does not announce it otherwise', '250 relay', /<bounce@example\.com>$/, RAW],
    [
      'does not announce 7-bit data',
      '250-relay\r\n250 8BITMIME',
      /<bounce@example\.com>$/,
      Buffer.from('A: b\r\n\r\nc'),
    ],
  ])('%s (RFC 6152)', async (_what, EHLO, expected, raw) => {
    const { port, lines } = await scripted(usual({ EHLO }));

    expect(await transportTo({ port }).submit({ ...SUBMISSION, raw })).toMatchObject({
      replies: [{ outcome: 'accepted' }],
    });
    expect(lines.find((line) => line.startsWith('MAIL FROM'))).toMatch(expected);
  });

  it.each<[string, string, Partial<typeof SUBMISSION>]>([
    ['SIZE 100', '250-relay\r\n250 SIZE 100', {}],
    ['SIZE without a limit', '250-relay\r\n250 SIZE', {}],
    ['SMTPUTF8', '250-relay\r\n250-SMTPUTF8\r\n250 SIZE 100', { recipients: ['zoë@example.org'] }],
  ])('declares the size of the message (RFC 1870): %s', async (_what, EHLO, changes) => {
    const { port, lines } = await scripted(usual({ EHLO }));

    const { replies } = await transportTo({ port }).submit({ ...SUBMISSION, ...changes });

    expect(replies).toMatchObject([{ outcome: 'accepted' }]);
    expect(lines.find((line) => line.startsWith('MAIL'))).toContain(` SIZE=${RAW.length}`);
  });

  it.each([['b@example.org'], ['zoë@example.org']])(
    'does not send a message that exceeds the limit of SIZE, but the next one: %s',
    async (address) => {
      const { port, lines } = await scripted(usual({ EHLO: '250-relay\r\n250-SMTPUTF8\r\n250 SIZE 100' }));
      const transport = transportTo({ port });
      const raw = Buffer.concat([RAW, Buffer.alloc(100, 'x')]);

      const { replies, isUnreachable } = await transport.submit({ ...SUBMISSION, raw, recipients: [address] });

      expect([isUnreachable, replies]).toEqual([
        false,
        [
          {
            address,
            outcome: 'failed',
            code: 552,
            enhanced: '5.3.4',
            text: `552 5.3.4 The message is larger than the mail server accepts (100 bytes).`,
          },
        ],
      ]);
      expect(lines.filter((line) => line.startsWith('MAIL'))).toEqual([]);
      expect((await transport.submit(SUBMISSION)).replies).toMatchObject([{ outcome: 'accepted' }]);
    },
  );

  it('sends many messages concurrently', async () => {
    const { port, received } = await relay();
    const transport = transportTo({ port });

    const reports = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        transport.submit({ ...SUBMISSION, recipients: [`b${index}@d${index % 3}.example`] }),
      ),
    );

    expect(reports.every(({ replies }) => replies[0]?.outcome === 'accepted')).toBe(true);
    expect(new Set(received.map(({ to }) => to[0])).size).toBe(40);
  });
});

describe('smtp: over TLS', () => {
  const login = { user: 'ada', password: 'hunter2' };
  const withTls: SMTPServerOptions = { key: KEY, cert: CERTIFICATE, disabledCommands: [] };
  const asking: SMTPServerOptions = {
    ...withTls,
    authOptional: false,
    onAuth: ({ username, password }, _session, callback) =>
      callback(
        password === login.password ? null : new Error('Invalid login for hunter2'),
        password === login.password ? { user: username } : undefined,
      ),
  };

  it('logs in after STARTTLS', async () => {
    const { port, received } = await relay(asking);

    expect(
      await transportTo({ host: 'localhost', port, startTls: 'required', login }, { ca: CA }).submit(SUBMISSION),
    ).toMatchObject({ replies: [{ outcome: 'accepted' }] });
    expect(received).toMatchObject([{ isSecure: true, user: 'ada' }]);
  });

  it('logs in over implicit TLS', async () => {
    const { port, received } = await relay({ ...asking, secure: true });

    expect(
      await transportTo(
        { host: 'localhost', port, isImplicitTls: true, startTls: 'required', login },
        { ca: CA },
      ).submit(SUBMISSION),
    ).toMatchObject({ replies: [{ outcome: 'accepted' }] });
    expect(received).toMatchObject([{ isSecure: true }]);
  });

  it('sends neither password nor message if STARTTLS was stripped', async () => {
    const { port, lines } = await scripted(
      usual({ EHLO: '250-relay\r\n250 AUTH PLAIN LOGIN', STARTTLS: '454 TLS not available' }),
    );

    const report = await transportTo({ port, startTls: 'required', login }).submit(SUBMISSION);

    expect(report).toMatchObject({ isUnreachable: true, replies: [{ outcome: 'deferred' }] });
    expect(lines.filter((line) => /^(?:AUTH|MAIL|DATA)/.test(line))).toEqual([]);
    expect(JSON.stringify(report)).not.toContain('hunter2');
  });

  it.each<[string, SMTPServerOptions, Partial<EmailRelay>]>([
    ['after STARTTLS', withTls, { startTls: 'required' }],
    ['where TLS is from the first byte', { ...withTls, secure: true }, { isImplicitTls: true, startTls: 'required' }],
  ])('limits the wait for a reply to SMTP_ANSWER_TIMEOUT: %s', async (_what, options, how) => {
    const { port } = await relay({ ...options, onData: (stream) => void stream.resume() });

    expect(
      await transportTo({ host: 'localhost', port, ...how }, { ca: CA, answerMsMax: 500, totalMs: 20_000 }).submit(
        SUBMISSION,
      ),
    ).toMatchObject({
      isUnreachable: false,
      replies: [{ outcome: 'deferred', code: 0, text: 'The mail server did not answer in time.' }],
    });
  });

  it('rejects an untrusted certificate if TLS is required', async () => {
    const { port, received } = await relay(withTls);

    expect(await transportTo({ host: 'localhost', port, startTls: 'required' }).submit(SUBMISSION)).toMatchObject({
      isUnreachable: true,
      replies: [{ text: expect.stringContaining('certificate') as string }],
    });
    expect(received).toEqual([]);
  });

  it.each<[string, SMTPServerOptions, boolean]>([
    ['encrypts if the server offers it', withTls, true],
    ['plain text if it does not', {}, false],
  ])('opportunistic: %s', async (_what, options, isSecure) => {
    const { port, received } = await relay(options);

    await transportTo({ host: 'localhost', port, startTls: 'opportunistic' }).submit(SUBMISSION);

    expect(received).toMatchObject([{ isSecure }]);
  });

  it('reports an unreachable transport if the login is rejected, without its reply', async () => {
    const { port } = await relay(asking);

    const report = await transportTo(
      { host: 'localhost', port, startTls: 'required', login: { user: 'ada', password: 'hunter3' } },
      { ca: CA },
    ).submit(SUBMISSION);

    expect(report).toMatchObject({
      isUnreachable: true,
      replies: [{ outcome: 'deferred', code: 535, text: 'The mail server of EMAIL_TRANSPORT refused the login.' }],
    });
  });
});

describe('smtp: addresses outside ASCII', () => {
  const LOGIN = { user: 'shop', password: 'a password' };
  const UTF8 = { EHLO: '250-relay\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8' };
  const toZoe = { ...SUBMISSION, recipients: ['zoë@xn--bcher-kva.example', 'b@example.org'] };
  const inHeader = { ...SUBMISSION, raw: Buffer.from('To: zoë@example.org\r\nSubject: x\r\n\r\nx\r\n') };
  const decoded = (lines: readonly string[]): string[] => lines.map((line) => Buffer.from(line, 'latin1').toString());

  it('are sent with SMTPUTF8 to a server that offers it, with the domain in A-labels', async () => {
    const { port, lines } = await scripted(usual(UTF8));

    const report = await transportTo({ port }).submit(toZoe);

    expect(report).toMatchObject({
      isUnreachable: false,
      isFinal: true,
      replies: [
        { address: 'zoë@xn--bcher-kva.example', outcome: 'accepted', code: 250 },
        { address: 'b@example.org', outcome: 'accepted', code: 250 },
      ],
    });
    expect(decoded(lines).slice(1, 4)).toEqual([
      'MAIL FROM:<bounce@example.com> SMTPUTF8 BODY=8BITMIME',
      'RCPT TO:<zoë@xn--bcher-kva.example>',
      'RCPT TO:<b@example.org>',
    ]);
  });

  it('need SMTPUTF8 in the header, too, if the envelope is ASCII', async () => {
    const { port, lines } = await scripted(usual(UTF8));

    expect((await transportTo({ port }).submit(inHeader)).replies).toMatchObject([{ outcome: 'accepted' }]);

    expect(lines[1]).toBe('MAIL FROM:<bounce@example.com> BODY=8BITMIME SMTPUTF8');
  });

  it.each([
    ['in the envelope', toZoe],
    ['in the header', inHeader],
  ])(
    'fail permanently, and suppress nothing, if the server does not offer SMTPUTF8: %s',
    async (_where, submission) => {
      const { port, lines } = await scripted(usual());

      const { replies, isUnreachable } = await transportTo({ port }).submit(submission);

      expect([isUnreachable, new Set(replies.map(({ outcome }) => outcome))]).toEqual([false, new Set(['failed'])]);
      for (const { code, enhanced, text } of replies)
        expect([code, enhanced, text]).toEqual([
          550,
          '5.6.7',
          expect.stringContaining('127.0.0.1 does not offer SMTPUTF8'),
        ]);
      expect(lines.filter((line) => line.startsWith('MAIL'))).toEqual([]);
    },
  );

  it('are reported one by one: rejected and accepted recipients', async () => {
    const { port } = await scripted((line) =>
      line.startsWith('RCPT TO:<b@') ? '550 5.1.1 unknown user' : usual(UTF8)(line),
    );

    const { replies } = await transportTo({ port }).submit(toZoe);

    expect(replies).toMatchObject([{ outcome: 'accepted' }, { outcome: 'bounced', enhanced: '5.1.1' }]);
  });

  it('log in like other mail, and defer while the login is refused', async () => {
    const offer = '250-relay\r\n250-AUTH PLAIN\r\n250 SMTPUTF8';
    const { port, lines } = await scripted((line) =>
      line.startsWith('AUTH') ? '535 5.7.8 no' : usual({ EHLO: offer })(line),
    );

    const report = await transportTo({ port, login: LOGIN }).submit(toZoe);

    expect([report.isUnreachable, report.replies[0]?.outcome]).toEqual([true, 'deferred']);
    expect(lines.some((line) => line.startsWith('AUTH PLAIN'))).toBe(true);
  });

  it.each([
    ['true', UTF8, true],
    ['false', {}, false],
    ['null: the relay hangs up', { EHLO: null }, null],
  ])('offersSmtpUtf8 is %s, and asks the relay only once', async (_what, replies, offers) => {
    const { port, lines } = await scripted(usual(replies));
    const transport = transportTo({ port });

    expect([await transport.offersSmtpUtf8(), await transport.offersSmtpUtf8()]).toEqual([offers, offers]);

    expect(lines.filter((line) => line.startsWith('EHLO'))).toHaveLength(1);
  });

  it('offersSmtpUtf8 asks only once, too, for concurrent calls', async () => {
    const { port, lines } = await scripted(usual(UTF8));
    const transport = transportTo({ port });

    const offers = await Promise.all([transport.offersSmtpUtf8(), transport.offersSmtpUtf8()]);

    expect([offers, lines.filter((line) => line.startsWith('EHLO')).length]).toEqual([[true, true], 1]);
  });

  it('offersSmtpUtf8 is null for 30 seconds after a connection did not open within five seconds', async () => {
    jest.useFakeTimers();
    ends.push(() => void jest.useRealTimers());
    let dials = 0;
    const open = (): Promise<never> => ((dials += 1), new Promise(() => undefined));
    const transport = new SmtpTransport(PLAIN, { open } as unknown as Dialer, { ownName: null, answerMsMax: 20_000 });

    const offers = [transport.offersSmtpUtf8(), transport.offersSmtpUtf8()];
    await jest.advanceTimersByTimeAsync(5_000);

    expect(await Promise.all(offers)).toEqual([null, null]);
    await jest.advanceTimersByTimeAsync(29_000);
    expect(await transport.offersSmtpUtf8()).toBeNull();
    expect(dials).toBe(1);
    await jest.advanceTimersByTimeAsync(2_000);
    void transport.offersSmtpUtf8();
    expect(dials).toBe(2);
  });

  it('name both reasons to the recipients inside ASCII', async () => {
    const { port } = await scripted(usual());

    expect((await transportTo({ port }).submit(inHeader)).replies[0]?.text).toMatch(
      /^550 5\.6\.7 Another address or a header field of the message has characters outside ASCII, /,
    );
  });

  it('a connection that opens after the time limit is closed', async () => {
    const { port } = await scripted(usual(UTF8));
    const connection = connect(port, '127.0.0.1');
    await once(connection, 'connect');
    const host = { host: 'relay', options: {}, connection, login: null };

    await expect(offersSmtpUtf8(host, AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');

    expect(connection.destroyed).toBe(true);
  });

  it('a server that never answers does not hold the message longer than the limit', async () => {
    const { port } = await scripted((line) => (line.startsWith('EHLO') ? undefined : usual(UTF8)(line)));

    const { replies } = await transportTo({ port }, { totalMs: 300 }).submit(toZoe);

    expect(replies.map(({ outcome }) => outcome)).toEqual(['deferred', 'deferred']);
  });
});
