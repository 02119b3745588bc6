import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { Dialer } from '#egress/dialer.js';
import type { EgressGate } from '#egress/gate.js';
import { Names } from '#egress/names/names.js';
import { ServerRecords } from '#egress/names/server-records.js';
import { egressPolicy } from '#engine/egress-policy.js';
import type { MtaStsPolicy } from '#engine/mail/mta-sts.js';
import type { RecipientReply } from '#modules/email/transport.contract.js';
import { type ScriptedMailServer, scriptedMailServer } from '../../../test/support/scripted-mail-server.js';
import { startZoneServer, type ZoneServer } from '../../../test/support/zone-server.js';
import { DirectTransport } from './direct.js';

const TLS = new URL('../../../test/support/tls/', import.meta.url);
const CERTIFICATE = readFileSync(new URL('localhost-cert.pem', TLS));
const KEY = readFileSync(new URL('localhost-key.pem', TLS));

const RAW = Buffer.from('Subject: x\r\nMessage-ID: <evt_1@example.com>\r\n\r\nGr\xfc\xdfe\r\n', 'latin1');
const SUBMISSION = { emailId: 'evt_1', raw: RAW, mailFrom: () => 'bounce@example.com', recipients: ['b@x.example'] };

const ends: (() => Promise<void> | void)[] = [];
let zone: ZoneServer;

beforeEach(async () => {
  zone = await startZoneServer();
  ends.push(() => zone.close());
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function direct(
  port: number,
  {
    policy = null,
    allowCidrs = ['127.0.0.0/8'],
    totalMs = 20_000,
    hostReplyMsMax,
  }: { policy?: MtaStsPolicy | null; allowCidrs?: string[]; totalMs?: number; hostReplyMsMax?: number } = {},
): DirectTransport {
  const egress = egressPolicy({ allowCidrs, allowHttp: false });
  const records = new ServerRecords({ servers: [zone.address] });
  const names = new Names({ servers: [zone.address] });
  ends.push(
    () => records.close(),
    () => names.close(),
  );
  return new DirectTransport(
    new Dialer({ policy: () => egress } as EgressGate, names),
    records,
    { findByDomain: async () => policy },
    {
      ownName: 'mail.posthorn.example',
      port,
      ca: CERTIFICATE.toString(),
      totalMs,
      hostReplyMsMax,
      answerMsMax: 20_000,
      random: () => 0.5,
    },
  );
}

interface Received {
  from: string;
  to: string[];
  raw: Buffer;
  isSecure: boolean;
  named: string;
  /** Parameter BODY of the command MAIL (RFC 6152). */
  body: string | undefined;
}

async function serverAt(
  address: string,
  port = 0,
  options: SMTPServerOptions = {},
): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData: (stream, { envelope, secure, hostNameAppearsAs }, callback) => {
      const chunks: Buffer[] = [];
      stream
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          const { mailFrom, rcptTo } = envelope;
          received.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map((each) => each.address),
            raw: Buffer.concat(chunks),
            isSecure: secure,
            named: String(hostNameAppearsAs),
            body: envelope.bodyType,
          });
          callback();
        });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => void server.listen(port, address, resolve));
  ends.push(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  return { port: (server.server.address() as { port: number }).port, received };
}

async function scriptedAt(
  address: string,
  port: number,
  script: (line: string) => string | null | undefined,
  greeting: string | null = '220 ready',
): Promise<ScriptedMailServer> {
  const server = await scriptedMailServer(script, greeting, { address, port });
  ends.push(() => server.close());
  return server;
}

const usual =
  (other: Record<string, string | null>) =>
  (line: string): string | null | undefined => {
    const found = Object.keys(other).find((start) => line.startsWith(start));
    if (found !== undefined) return other[found];
    if (line.startsWith('EHLO')) return '250-mx\r\n250 PIPELINING';
    if (line === 'DATA') return '354 go on';
    return line === 'QUIT' ? '221 bye' : '250 2.0.0 ok';
  };

/** Publishes the MX records of a domain, such as `10 mx1.x.example`, and the address of each mail server. */
function publish(domain: string, servers: Record<string, string>): void {
  zone.set(domain, 'MX', Object.keys(servers));
  for (const [record, address] of Object.entries(servers)) zone.set(record.split(' ')[1] ?? '', 'A', [address]);
}

describe('direct:', () => {
  it("sends the exact bytes to the domain's own server, under the platform's name", async () => {
    const { port, received } = await serverAt('127.0.0.1');
    publish('x.example', { '10 mx.x.example': '127.0.0.1' });

    const report = await direct(port).submit({ ...SUBMISSION, recipients: ['b@x.example', 'c@x.example'] });

    expect(report).toMatchObject({
      isUnreachable: false,
      isFinal: true,
      replies: [
        { address: 'b@x.example', outcome: 'accepted', code: 250 },
        { address: 'c@x.example', outcome: 'accepted' },
      ],
    });
    expect(received).toEqual([
      {
        from: 'bounce@example.com',
        to: ['b@x.example', 'c@x.example'],
        raw: RAW,
        isSecure: false,
        named: 'mail.posthorn.example',
        body: '8bitmime',
      },
    ]);
  });

  it.each<[string, (port: number) => Promise<unknown>]>([
    ['nobody listens', async () => undefined],
    ['it greets with 554', (port) => scriptedAt('127.0.0.2', port, usual({}), '554 5.7.1 No service here')],
    ['it resets', (port) => scriptedAt('127.0.0.2', port, usual({}), null)],
  ])('continues with the next server if %s at the preferred one', async (_what, first) => {
    const { port, received } = await serverAt('127.0.0.3');
    await first(port);
    publish('x.example', { '20 mx2.x.example': '127.0.0.3', '10 mx1.x.example': '127.0.0.2' });

    expect(await direct(port).submit(SUBMISSION)).toMatchObject({ replies: [{ outcome: 'accepted' }] });
    expect(received).toHaveLength(1);
  });

  it.each<[string, Record<string, string | null>, object]>([
    ['refuses the address', { 'RCPT TO': '550 5.1.1 User unknown' }, { outcome: 'bounced', code: 550 }],
    ['puts it off', { 'RCPT TO': '450 4.2.0 Greylisted' }, { outcome: 'deferred', code: 450 }],
    ['resets after the message', { '.': null }, { outcome: 'deferred', code: 0 }],
  ])('does not try another server if the preferred one %s', async (_what, other, reply) => {
    const { port, received } = await serverAt('127.0.0.3');
    await scriptedAt('127.0.0.2', port, usual(other));
    publish('x.example', { '10 mx1.x.example': '127.0.0.2', '20 mx2.x.example': '127.0.0.3' });

    expect(await direct(port).submit(SUBMISSION)).toMatchObject({ isUnreachable: false, replies: [reply] });
    expect(received).toEqual([]);
  });

  it('uses the domain itself if it has an address and no MX', async () => {
    const { port, received } = await serverAt('127.0.0.4');
    zone.set('x.example', 'A', ['127.0.0.4']);

    expect(await direct(port).submit(SUBMISSION)).toMatchObject({ replies: [{ outcome: 'accepted' }] });
    expect(received).toHaveLength(1);
  });

  it('bounces permanently for a null MX, and for a domain with neither MX nor address', async () => {
    zone.set('null.example', 'MX', ['0 .']);
    zone.set('null.example', 'A', ['127.0.0.1']);

    const { replies } = await direct(25).submit({ ...SUBMISSION, recipients: ['a@null.example', 'b@nowhere.example'] });

    expect(replies.map(({ address, outcome, enhanced }) => [address, outcome, enhanced]).sort()).toEqual([
      ['a@null.example', 'bounced', '5.1.10'],
      ['b@nowhere.example', 'bounced', '5.1.2'],
    ]);
  });

  it('defers if the name servers fail, and reports the recipients of each domain separately', async () => {
    const { port, received } = await serverAt('127.0.0.1');
    publish('x.example', { '10 mx.x.example': '127.0.0.1' });
    zone.trouble('fails.example', 'fails');

    const { replies, isUnreachable } = await direct(port).submit({
      ...SUBMISSION,
      recipients: ['a@fails.example', 'b@x.example', 'c@nowhere.example'],
    });

    expect(Object.fromEntries(replies.map(({ address, outcome }) => [address, outcome]))).toEqual({
      'a@fails.example': 'deferred',
      'b@x.example': 'accepted',
      'c@nowhere.example': 'bounced',
    });
    expect([isUnreachable, received.map(({ to }) => to)]).toEqual([false, [['b@x.example']]]);
  });

  it('sends addresses outside ASCII to the domains whose server offers SMTPUTF8, and fails for the others', async () => {
    const offers = { EHLO: '250-mx\r\n250-PIPELINING\r\n250 SMTPUTF8' };
    const { port, lines } = await scriptedAt('127.0.0.2', 0, usual(offers));
    await scriptedAt('127.0.0.3', port, usual({}));
    publish('x.example', { '10 mx.x.example': '127.0.0.2' });
    publish('y.example', { '10 mx.y.example': '127.0.0.3' });

    const { replies, isUnreachable } = await direct(port).submit({
      ...SUBMISSION,
      raw: Buffer.from('To: zoë@x.example, b@y.example\r\nSubject: x\r\n\r\nx\r\n'),
      recipients: ['zoë@x.example', 'b@y.example'],
    });

    expect([isUnreachable, replies]).toEqual([
      false,
      [
        expect.objectContaining({ address: 'zoë@x.example', outcome: 'accepted' }),
        expect.objectContaining({
          address: 'b@y.example',
          outcome: 'failed',
          enhanced: '5.6.7',
          text: expect.stringContaining('mx.y.example does not offer SMTPUTF8'),
        }),
      ],
    ]);
    expect(lines[1]).toBe('MAIL FROM:<bounce@example.com> SMTPUTF8');
  });

  it.each([
    ['10 mx.x.example', 'mx.x.example'],
    ['10 localhost', 'localhost'],
  ])('never dials an address of the internal network: an MX %s', async (record) => {
    const { port, received } = await serverAt('127.0.0.1');
    publish('x.example', { [record]: '127.0.0.1' });

    const report = await direct(port, { allowCidrs: [] }).submit(SUBMISSION);

    expect(report).toMatchObject({ replies: [{ outcome: 'deferred', code: 0 }] });
    expect(received).toEqual([]);
  });

  it.each<[string, string | undefined, (line: string) => undefined]>([
    ['does not greet', undefined, () => undefined],
    ['does not reply to EHLO', '220 ready', () => undefined],
  ])(
    'does not wait again for a server that %s: uses the next server, or defers',
    async (_what, greeting, script) => {
      const { port, received } = await serverAt('127.0.0.3');
      const silent = await scriptedMailServer(script, greeting, { address: '127.0.0.2', port });
      ends.push(() => silent.close());
      for (let i = 0; i < 12; i += 1) publish(`x${i}.example`, { '10 mx.silent.example': '127.0.0.2' });
      publish('y.example', { '10 mx.silent.example': '127.0.0.2', '20 mx.y.example': '127.0.0.3' });
      const transport = direct(port, { totalMs: 6_000, hostReplyMsMax: 1_000 });
      const send = async (domain: string): Promise<RecipientReply | undefined> =>
        (await transport.submit({ ...SUBMISSION, recipients: [`b@${domain}`] })).replies[0];
      const notConnected = expect.objectContaining({
        outcome: 'deferred',
        code: 0,
        text: 'Posthorn did not connect to mx.silent.example, because this mail server did not reply to other mail in time.',
      });
      const texts: (string | undefined)[] = [];
      const sent = Array.from({ length: 12 }, (_, i) => send(`x${i}.example`).then((reply) => texts.push(reply?.text)));
      while (texts.length < 7) await sleep(20);
      sent.push(send('x0.example').then((reply) => texts.push(reply?.text)));
      while (silent.connections < 6) await sleep(20);

      expect(await send('x1.example')).toEqual(notConnected);
      expect(await send('y.example')).toMatchObject({ outcome: 'accepted' });

      expect([received.length, texts.length]).toEqual([1, 7]);
      await Promise.all(sent);
      expect(texts.slice(7)).toEqual(Array(6).fill('The mail server did not answer in time.'));
    },
    20_000,
  );

  it("queries silent name servers for one email at a time, and defers the domain's other mail at once", async () => {
    const { port } = await serverAt('127.0.0.1');
    publish('x.example', { '10 mx.x.example': '127.0.0.1' });
    zone.trouble('x.example', 'silent');
    const transport = direct(port);
    const startedMs = performance.now();

    const reports = await Promise.all(Array.from({ length: 40 }, () => transport.submit(SUBMISSION)));

    for (const { replies } of reports)
      expect(replies).toMatchObject([{ outcome: 'deferred', code: 451, enhanced: '4.4.3' }]);
    expect(zone.questions.filter((question) => question === 'MX x.example').length).toBeLessThanOrEqual(30);
    expect(performance.now() - startedMs).toBeLessThan(15_000);
    zone.trouble('x.example', null);
    expect(await transport.submit(SUBMISSION)).toMatchObject({ replies: [{ outcome: 'accepted' }] });
    await Promise.all([1, 2].map(() => transport.submit(SUBMISSION))).then((later) =>
      expect(later.map(({ replies }) => replies[0]?.outcome)).toEqual(['accepted', 'accepted']),
    );
  }, 30_000);

  it('times out on silent servers', async () => {
    const { port } = await scriptedMailServer(() => undefined, undefined).then(
      (server) => (ends.push(() => server.close()), server),
    );
    publish('x.example', { '10 mx1.x.example': '127.0.0.1', '20 mx2.x.example': '127.0.0.1' });

    expect(await direct(port, { totalMs: 400 }).submit(SUBMISSION)).toMatchObject({
      replies: [{ outcome: 'deferred', code: 0 }],
    });
  });
});

describe('direct: over TLS', () => {
  const withTls: SMTPServerOptions = { key: KEY, cert: CERTIFICATE, disabledCommands: ['AUTH'] };
  const enforced = (mx: string[]): { policy: MtaStsPolicy } => ({
    policy: { mode: 'enforce', mx, maxAgeSeconds: 86_400 },
  });

  it('encrypts if the server offers TLS, whatever its certificate', async () => {
    const { port, received } = await serverAt('127.0.0.1', 0, withTls);
    publish('x.example', { '10 mx.x.example': '127.0.0.1' });

    await direct(port).submit(SUBMISSION);

    expect(received).toMatchObject([{ isSecure: true }]);
  });

  it('falls back to plain text if the TLS handshake fails', async () => {
    const { port, received } = await serverAt('127.0.0.1', 0, {
      ...withTls,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
    });
    publish('x.example', { '10 mx.x.example': '127.0.0.1' });

    expect(await direct(port).submit(SUBMISSION)).toMatchObject({ replies: [{ outcome: 'accepted' }] });
    expect(received).toMatchObject([{ isSecure: false }]);
  });

  it('an enforced policy: sends to a server in the policy with a valid certificate', async () => {
    const { port, received } = await serverAt('127.0.0.1', 0, withTls);
    zone.set('x.example', 'MX', ['10 localhost']);

    expect(await direct(port, enforced(['localhost'])).submit(SUBMISSION)).toMatchObject({
      replies: [{ outcome: 'accepted' }],
    });
    expect(received).toMatchObject([{ isSecure: true }]);
  });

  it.each<[string, SMTPServerOptions, string[]]>([
    ['a server outside of the policy', withTls, ['other.x.example']],
    ['a certificate for another name', withTls, ['mx.x.example']],
    ['a server without TLS', {}, ['mx.x.example']],
  ])('an enforced policy prevents sending to %s', async (_what, options, mx) => {
    const { port, received } = await serverAt('127.0.0.1', 0, options);
    publish('x.example', { '10 mx.x.example': '127.0.0.1' });

    expect(await direct(port, enforced(mx)).submit(SUBMISSION)).toMatchObject({
      isUnreachable: false,
      replies: [{ outcome: 'deferred' }],
    });
    expect(received).toEqual([]);
  });

  it('a policy in testing mode prevents nothing', async () => {
    const { port, received } = await serverAt('127.0.0.1');
    publish('x.example', { '10 mx.x.example': '127.0.0.1' });

    await direct(port, { policy: { mode: 'testing', mx: ['other.x.example'], maxAgeSeconds: 86_400 } }).submit(
      SUBMISSION,
    );

    expect(received).toHaveLength(1);
  });
});
