import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { createTransport } from 'nodemailer';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { isSwaksUsable } from '../support/optional-tools.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { type DatabaseLink, openLink } from './database-link.js';
import { until } from './polling.js';
import { expectStatus, openSql, type Sql, uuidOf } from './scene.js';
import { createAlias, mailText, rcpt, sendMail, smtpPortOf, SmtpTalk } from './smtp-client.js';

const PLATFORM = 'posthorn.example';
const MX = `mx.${PLATFORM}`;
const METRICS_TOKEN = 'for-the-scraper';
const TLS_FOLDER = path.resolve(import.meta.dirname, '..', 'support', 'tls');
/** Address of the load balancer. Connections from this address begin with a PROXY header. */
const BALANCER = '127.0.0.2';
const hasSwaks = isSwaksUsable();

interface Row {
  id: string;
  alias_id: string;
  reason: string | null;
  envelope_from: string;
  envelope_to: string[];
  client_ip: string;
  helo: string;
  tls: string | null;
  size_bytes: number;
  sha256: Buffer;
  raw: Buffer | null;
  message_id: string | null;
}

describe('incoming email', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  /** Server with ROLE=all. */
  let server: PosthornServer;
  /** Server with ROLE=smtp and a certificate, behind a load balancer, with a database link that the test can cut. */
  let edge: PosthornServer;
  let sql: Sql;
  let port: number;
  let edgePort: number;

  beforeAll(async () => {
    database = await createDatabase();
    link = await openLink(database.url);
    server = await startServer({
      DATABASE_URL: database.url,
      PLATFORM_DOMAIN: PLATFORM,
      LOG_LEVEL: 'info',
      METRICS_TOKEN,
    });
    edge = await startServer({
      ...server.env,
      ROLE: 'smtp',
      DATABASE_URL: link.url,
      SMTP_TLS_CERT: path.join(TLS_FOLDER, 'localhost-cert.pem'),
      SMTP_TLS_KEY: path.join(TLS_FOLDER, 'localhost-key.pem'),
      SMTP_TRUST_PROXY: `${BALANCER}/32`,
    });
    sql = openSql(server);
    port = smtpPortOf(server);
    edgePort = smtpPortOf(edge);
  });

  afterAll(async () => {
    await sql?.close();
    await edge?.stop();
    await server?.stop();
    await link?.close();
    await database?.drop();
  });

  const rowsOf = (alias: { id: string }): Promise<Row[]> =>
    sql.rows<Row>('select * from inbox_messages where alias_id = $1 order by id', [uuidOf(alias.id)]);

  async function receivingDomain(host: string): Promise<string> {
    const { id } = expectStatus(
      await server.api('POST', '/v1/domains', { domain: host, kind: 'email', acknowledge_mx_conflict: true }),
      201,
    ).json;
    await sql.rows(
      `update domains set state = 'verified', is_owner = true, receiving_enabled = true, next_check_at = now() + interval '1 day' where id = $1`,
      [uuidOf(id)],
    );
    return id as string;
  }

  describe('250', () => {
    it('250 2.6.0 with the id: the message is stored byte for byte, with its envelope', async () => {
      const alias = await createAlias(server);
      const text = `${mailText('Grüße')}\r\n..dots\r\n.\r\nend`;

      const answer = await sendMail(port, alias.address.toUpperCase(), Buffer.from(text).toString('latin1'));
      const [row] = await rowsOf(alias);
      expect(answer).toMatch(/^250 2\.6\.0 Accepted as evt_[0-9A-Z]{26}$/);
      expect(uuidOf(answer.split(' ').at(-1) ?? '')).toBe(row?.id);
      expect(row?.raw?.toString()).toBe(`${text}\r\n`);
      expect(row).toMatchObject({
        reason: null,
        envelope_from: 'sender@example.org',
        envelope_to: [expect.stringMatching(/@/)],
        client_ip: '127.0.0.1',
        helo: 'client.example',
        tls: null,
        size_bytes: Buffer.byteLength(text) + 2,
        sha256: createHash('sha256').update(`${text}\r\n`).digest(),
        message_id: expect.stringMatching(/^<.*@example\.org>$/),
      });
    });

    it('a +tag is ignored, the null sender is accepted, and an alias given twice gets one message', async () => {
      const alias = await createAlias(server);
      const tagged = alias.address.replace('@', '+invoice.42@');

      await sendMail(port, [tagged, alias.address], mailText(), '');
      expect((await rowsOf(alias)).map((row) => [row.envelope_from, row.envelope_to])).toEqual([
        ['', [tagged, alias.address]],
      ]);
    });

    it.each([
      ['"ada lovelace"@b.example', '"ada lovelace"@b.example'],
      ['"ada"@b.example', 'ada@b.example'],
      [String.raw`"a\d\a"@b.example`, 'ada@b.example'],
      [String.raw`"a@b \"c\" \\"@b.example`, String.raw`"a@b \"c\" \\"@b.example`],
      ['@relay.example:"a b"@b.example', '"a b"@b.example'],
    ])(
      'the quoted sender %s is stored as %s, and a quoted recipient is the same address without the quotes',
      async (from, stored) => {
        const alias = await createAlias(server);
        const quoted = alias.address.replace(/^[^@]*/, '"$&"');
        const talk = await SmtpTalk.greeted(port);

        expect(await talk.say(`MAIL FROM:<${from}> SIZE=1000 BODY=8BITMIME SMTPUTF8`)).toMatch(/^250 /);
        expect(await talk.say(`RCPT TO:<${quoted}>`)).toMatch(/^250 /);
        await talk.say('DATA');
        talk.write(`${mailText()}\r\n.\r\n`);
        expect(await talk.answer()).toMatch(/^250 /);
        talk.close();
        expect((await rowsOf(alias)).map((row) => [row.envelope_from, row.envelope_to])).toEqual([
          [stored, [alias.address]],
        ]);
      },
    );

    it('a client that ends its side after the message gets the replies to everything it sent', async () => {
      const alias = await createAlias(server);
      const talk = await SmtpTalk.greeted(port);
      talk.write(`MAIL FROM:<a@b.example>\r\nRCPT TO:<${alias.address}>\r\nDATA\r\n`);
      for (const code of ['250', '250', '354']) expect((await talk.answer()).slice(0, 3)).toBe(code);

      talk.socket.end(`${mailText()}\r\n.\r\nNOOP\r\n`);

      expect(await talk.answer()).toMatch(/^250 2\.6\.0 /);
      expect(await talk.answer()).toMatch(/^250 2\.0\.0 /);
      expect(await talk.answer()).toBe('closed');
      expect(await rowsOf(alias)).toHaveLength(1);
    });

    it('an exact alias takes precedence over the catch-all, which gets all other addresses of its domain', async () => {
      const domainId = await receivingDomain('exact.customer.example');
      const all = await createAlias(server, { kind: 'custom', domainId, localPart: '*' });
      const exact = await createAlias(server, { kind: 'custom', domainId, localPart: 'support' });

      for (const local of ['support', 'Support+x', 'anything', 'postmaster', 'b+nothing-of-ours'])
        await sendMail(port, `${local}@Exact.Customer.example`, mailText());
      // `b+…` is the form of a return path, so no alias gets the mail to this address.
      expect([(await rowsOf(exact)).length, (await rowsOf(all)).length]).toEqual([2, 2]);
    });

    it('the most specific alias gets the mail: the tag, the address, the longest pattern, then the catch-all', async () => {
      const domainId = await receivingDomain('patterns.customer.example');
      const locals = ['*', 'ticket*', 'ticket-*', 'ticket-7', 'ticket-9+*', 'ticket-7+eu'];
      const aliases = await Promise.all(
        locals.map((localPart) => createAlias(server, { kind: 'custom', domainId, localPart })),
      );

      const sent = ['other', 'tickets', 'ticket-8+x', 'Ticket-7+US', 'ticket-9+US', 'ticket-7+eu'];
      for (const local of sent) await sendMail(port, `${local}@patterns.customer.example`, mailText());

      const received = await Promise.all(
        aliases.map(async (alias) => (await rowsOf(alias)).flatMap((row) => row.envelope_to)),
      );
      expect(received).toEqual(sent.map((local) => [`${local}@patterns.customer.example`]));
    });

    it('several messages on one connection, and one message to many aliases: a row for each, committed together', async () => {
      const aliases = await Promise.all([1, 2, 3].map(() => createAlias(server)));
      const talk = await SmtpTalk.greeted(port);

      for (let i = 0; i < 3; i += 1)
        expect(
          await talk.send(
            aliases.map(({ address }) => address),
            mailText(),
          ),
        ).toMatch(/^250/);
      expect(await talk.say('QUIT')).toMatch(/^221/);
      expect(await Promise.all(aliases.map(async (alias) => (await rowsOf(alias)).length))).toEqual([3, 3, 3]);
    });

    it('a duplicate, at any process, gets 250 and is not stored again; without a Message-ID, or from another sender, it is a new message', async () => {
      const alias = await createAlias(server);
      const text = mailText();
      const bare = 'From: anna@example.org\r\nSubject: none\r\n\r\nx';

      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('250'),
      );
      const first = await sendMail(port, alias.address, text);
      const again = [await sendMail(port, alias.address, text), await sendMail(edgePort, alias.address, text)];
      expect([first, ...again]).toEqual([
        expect.stringMatching(/^250 2\.6\.0 Accepted as/),
        '250 2.6.0 Accepted.',
        '250 2.6.0 Accepted.',
      ]);
      await Promise.all([
        sendMail(port, alias.address, text, 'other@example.org'),
        sendMail(port, alias.address, bare),
      ]);
      await sendMail(port, alias.address, bare);
      expect(await rowsOf(alias)).toHaveLength(4);
    });

    it('concurrent copies on ten connections are one message', async () => {
      const alias = await createAlias(server);
      const text = mailText();

      const answers = await Promise.all(Array.from({ length: 10 }, () => sendMail(port, alias.address, text)));
      expect(answers.every((answer) => answer.startsWith('250'))).toBe(true);
      expect(await rowsOf(alias)).toHaveLength(1);
    });

    it('nodemailer delivers, also over STARTTLS', async () => {
      const alias = await createAlias(server);
      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('250'),
      );

      for (const [at, requireTLS] of [
        [port, false],
        [edgePort, true],
      ] as const) {
        const transport = createTransport({
          host: '127.0.0.1',
          port: at,
          requireTLS,
          tls: { rejectUnauthorized: false },
        });
        await transport.sendMail({
          from: 'Anna <anna@example.org>',
          to: alias.address,
          subject: 'By nodemailer',
          text: 'Hello',
          attachments: [{ filename: 'a.bin', content: Buffer.alloc(300_000, 7) }],
        });
        transport.close();
      }
      const rows = await rowsOf(alias);
      expect(rows.map(({ tls }) => tls?.split(' ')[0] ?? null)).toEqual([null, expect.stringMatching(/^TLSv1\.[23]$/)]);
      // Large messages are stored as blobs under the message id.
      expect(rows.map(({ raw }) => raw)).toEqual([null, null]);
      const chunks = await sql.rows<{ content: Buffer }>(
        'select content from blob_chunks where id = $1 order by ordinal',
        [rows[0]?.id],
      );
      const whole = Buffer.concat(chunks.map(({ content }) => content));
      expect([whole.length, createHash('sha256').update(whole).digest()]).toEqual([
        rows[0]?.size_bytes,
        rows[0]?.sha256,
      ]);
    });

    it('a message to the operator is stored as a report, truncated at 1 MB, and reaches no alias', async () => {
      const before = await sql.rows('select 1 from inbox_messages');

      for (const to of ['postmaster', `Abuse@${PLATFORM}`, `postmaster@bounce.${PLATFORM}`]) {
        expect(await sendMail(port, to, mailText('Undelivered', ['From: mailer-daemon@example.org']), '')).toBe(
          '250 2.6.0 Accepted.',
        );
      }
      expect(
        await sendMail(
          port,
          `postmaster@${MX}`,
          `${mailText('Large')}\r\n${`${'x'.repeat(900)}\r\n`.repeat(1_500)}`,
          '',
        ),
      ).toBe('250 2.6.0 Accepted.');
      const kept = await sql.rows<{ bytes: number }>(
        'select length(raw) as bytes from mail_reports where recipient ~* $1 order by 1',
        ['postmaster|abuse'],
      );
      expect([kept.length, kept.at(-1)?.bytes]).toEqual([4, 1_048_576]);
      expect(await sql.rows('select 1 from inbox_messages')).toHaveLength(before.length);
    });

    (hasSwaks ? it : it.skip)('swaks delivers, with pipelining and over STARTTLS', async () => {
      const alias = await createAlias(server);
      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('250'),
      );
      // Runs swaks without blocking this process, which also runs the proxy to the database.
      const swaks = async (at: number, ...more: string[]): Promise<string> => {
        const child = spawn('swaks', [
          '--server',
          '127.0.0.1',
          '--port',
          String(at),
          '--to',
          alias.address,
          '--from',
          'swaks@example.org',
          ...more,
        ]);
        let said = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
        await once(child, 'close');
        return said;
      };

      for (const said of [await swaks(port, '--pipeline'), await swaks(edgePort, '--tls')])
        expect(said).toContain('250 2.6.0 Accepted as evt_');
      expect(await rowsOf(alias)).toHaveLength(2);
    });
  });

  describe('refusals', () => {
    it('550 5.1.1 for an unknown alias, and for a return path that was never issued', async () => {
      await receivingDomain('known.customer.example');

      expect(await rcpt(port, `nobody.default@${PLATFORM}`)).toMatch(/^550 5\.1\.1 /);
      expect(await rcpt(port, 'nobody@known.customer.example')).toMatch(/^550 5\.1\.1 /);
      expect(await rcpt(port, `b+${'0'.repeat(56)}@bounce.${PLATFORM}`)).toMatch(/^550 5\.1\.1 /);
    });

    it.each([
      'a@example.com',
      'a@[127.0.0.1]',
      'a@sub.posthorn.example',
      `a%example.com@example.org`,
      `"a@${PLATFORM}"@example.com`,
      '@relay.example:a@example.com',
    ])('550 5.7.1 for %s: nothing is relayed', async (address) => {
      expect(await rcpt(port, address)).toMatch(/^(?:550 5\.7\.1|501 5\.1\.3) /);
    });

    it('450 4.2.1 while a domain with aliases is not verified', async () => {
      const domainId = await receivingDomain('paused.customer.example');
      const alias = await createAlias(server, { kind: 'custom', domainId, localPart: 'x' });
      await sql.rows('update domains set receiving_enabled = false where id = $1', [uuidOf(domainId)]);

      expect(await rcpt(port, alias.address)).toMatch(/^450 4\.2\.1 /);
    });

    it('552 5.3.4 above the size limit of the alias, by the declared and by the actual size; another alias with a higher limit gets the message', async () => {
      const small = await createAlias(server, { maxSizeBytes: 2_000 });
      const large = await createAlias(server);
      const text = `${mailText()}\r\n${'x'.repeat(70)}\r\n`.padEnd(3_000, 'y');

      expect(await rcpt(port, small.address, 'MAIL FROM:<a@example.org> SIZE=2001')).toMatch(/^552 5\.3\.4 /);
      expect(await rcpt(port, small.address, 'MAIL FROM:<a@example.org> SIZE=2000')).toMatch(/^250 /);
      expect(await sendMail(port, small.address, text)).toMatch(/^552 5\.3\.4 /);
      expect(await rowsOf(small)).toEqual([]);
      expect(await sendMail(port, [small.address, large.address], text)).toMatch(/^250 /);
      expect([
        (await rowsOf(small)).map(({ reason }) => reason),
        (await rowsOf(large)).map(({ reason }) => reason),
      ]).toEqual([['too_large'], [null]]);
    });

    it('552 5.3.4 above the size limit of the listener', async () => {
      const alias = await createAlias(server);

      expect(await rcpt(port, alias.address, `MAIL FROM:<a@example.org> SIZE=${41 * 1024 * 1024}`)).toMatch(
        /^552 5\.3\.4 /,
      );
      expect(
        await sendMail(port, alias.address, `${mailText()}\r\n${`${'x'.repeat(998)}\r\n`.repeat(42_000)}`),
      ).toMatch(/^552 5\.3\.4 /);
      expect(await rowsOf(alias)).toEqual([]);
    });

    it('550 5.7.1 for a sender that is not allowed; an allowed sender is accepted, and other recipients of the message get it', async () => {
      const picky = await createAlias(server, { allowedSenders: ['@example.org'] });
      const open = await createAlias(server);
      const from = (...fields: string[]) => mailText('x', fields);

      expect(await sendMail(port, picky.address, from('From: Anna <anna@EXAMPLE.org>'))).toMatch(/^250 /);
      for (const fields of [
        ['From: eve@evil.example'],
        [],
        ['From: anna@example.org', 'From: eve@evil.example'],
        ['From: anna@example.org, eve@evil.example'],
        ['From: eve@evil.example\rFrom: anna@example.org'],
      ]) {
        expect(await sendMail(port, picky.address, from(...fields))).toMatch(/^550 5\.7\.1 /);
      }
      expect(await rowsOf(picky)).toHaveLength(1);
      expect(await sendMail(port, [picky.address, open.address], from('From: eve@evil.example'))).toMatch(/^250 /);
      expect((await rowsOf(picky)).map(({ reason }) => reason)).toEqual([null, 'sender_not_allowed']);
      expect((await rowsOf(open)).map(({ reason }) => reason)).toEqual([null]);
    });

    it('554 5.4.6 for a mail loop', async () => {
      const alias = await createAlias(server);
      const hops = (count: number, by: string): string =>
        mailText(
          'x',
          Array.from(
            { length: count },
            () => `Received: from a.example\r\n\tby ${by} with ESMTP; Sun, 22 Nov 2026 09:00:00 +0000`,
          ),
        );

      expect(await sendMail(port, alias.address, hops(101, 'b.example'))).toMatch(/^554 5\.4\.6 /);
      expect(await sendMail(port, alias.address, hops(5, MX))).toMatch(/^554 5\.4\.6 /);
      expect(await sendMail(port, alias.address, hops(4, MX))).toMatch(/^250 /);
      expect(await rowsOf(alias)).toHaveLength(1);
    });

    it('452 4.5.3 for each recipient after the hundredth, and the others get the message', async () => {
      const alias = await createAlias(server);
      const talk = await SmtpTalk.greeted(port);
      await talk.say('MAIL FROM:<a@example.org>');

      for (let i = 0; i < 100; i += 1)
        expect(await talk.say(`RCPT TO:<${alias.address.replace('@', `+${i}@`)}>`)).toMatch(/^250/);
      expect(await talk.say(`RCPT TO:<${alias.address}>`)).toMatch(/^452 4\.5\.3 /);
      expect(await talk.say('DATA')).toMatch(/^354/);
      talk.write(`${mailText()}\r\n.\r\n`);
      expect(await talk.answer()).toMatch(/^250 /);
      expect((await rowsOf(alias)).map(({ envelope_to: to }) => to.length)).toEqual([100]);
      talk.close();
    });

    it('503 and 501 for commands out of order or with invalid syntax; AUTH is not offered, nor STARTTLS without a certificate', async () => {
      const talk = await SmtpTalk.open(port);
      expect(await talk.answer()).toBe(`220 ${MX} ESMTP`);
      const offers = await talk.say('EHLO client.example');
      expect(offers).toMatch(/SIZE 41943040/);
      expect(offers).not.toMatch(/AUTH|STARTTLS/);

      for (const [line, code] of [
        ['RCPT TO:<a@b.example>', 503],
        ['DATA', 503],
        ['MAIL FROM:a b', 501],
        ['MAIL FROM:<"a b"c@b.example>', 501],
        ['MAIL FROM:<a@b.example> FOO', '555 5.5.4'],
        ['MAIL FROM:<a@b.example> SIZE=10 FOO=bar', '555 5.5.4'],
        ['MAIL FROM:<a@b.example> AUTH=<>', '555 5.5.4'],
        ['RCPT TO:<a@b.example> SIZE=10', '555 5.5.4'],
        ['RCPT TO:<a@b.example> NOTIFY=NEVER', '555 5.5.4'],
        ['AUTH PLAIN AGEAYg==', 500],
        ['STARTTLS', 500],
        ['XCLIENT ADDR=1.2.3.4', 550],
        ['WIZ x', 500],
      ] as const) {
        expect(await talk.say(line)).toMatch(new RegExp(`^${code} `));
      }
      talk.close();
    });

    it('451 4.3.0 while the database is unavailable, and nothing is stored; the same message is accepted once it is back', async () => {
      const alias = await createAlias(server);
      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('250'),
      );
      const talk = await SmtpTalk.greeted(edgePort);
      const text = mailText();
      await talk.say('MAIL FROM:<sender@example.org>');
      await talk.say(`RCPT TO:<${alias.address}>`);
      await talk.say('DATA');

      link.cut();
      talk.write(`${text}\r\n.\r\n`);
      expect(await talk.answer()).toMatch(/^451 4\.3\.0 /);
      await until(
        () => rcpt(edgePort, `unheard.default@${PLATFORM}`),
        (answer) => answer.startsWith('451 4.3.0 '),
      );
      expect(await rowsOf(alias)).toEqual([]);
      link.restore();
      await until(
        () => sendMail(edgePort, alias.address, text),
        (answer) => answer.startsWith('250'),
      );
      expect(await rowsOf(alias)).toHaveLength(1);
      talk.close();
    });

    it('every process rejects a removed alias within five seconds, also in a session that had already named it', async () => {
      const alias = await createAlias(server);
      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('250'),
      );
      const talk = await SmtpTalk.greeted(edgePort);
      await talk.say('MAIL FROM:<sender@example.org>');
      await talk.say(`RCPT TO:<${alias.address}>`);
      expectStatus(await server.api('DELETE', `/v1/aliases/${alias.id}`), 204);

      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('550 5.1.1 '),
        5_000,
      );
      expect(await rcpt(port, alias.address)).toMatch(/^550 5\.1\.1 /);
      await talk.say('DATA');
      talk.write(`${mailText()}\r\n.\r\n`);
      expect(await talk.answer()).toMatch(/^550 5\.1\.1 /);
      expect(await rowsOf(alias)).toEqual([]);
      talk.close();
    });
  });

  describe('malicious clients', () => {
    it.each([
      ['LF.LF', '\n.\n'],
      ['CRLF.LF', '\r\n.\n'],
      ['LF.CRLF', '\n.\r\n'],
      ['CR.CR', '\r.\r'],
      ['CRLF.CR', '\r\n.\r'],
      ['CR.CRLF', '\r.\r\n'],
      ['LF.CR', '\n.\r'],
      ['CRLF NUL.CRLF', '\r\n\0.\r\n'],
      ['CRLF.NUL CRLF', '\r\n.\0\r\n'],
      ['CR LF LF.CRLF', '\r\n\n.\r\n'],
      ['CRLF .. CRLF', '\r\n..\r\n'],
    ])('smuggling with %s: one message, and its embedded commands are not executed', async (_name, end) => {
      const [alias, other] = await Promise.all([createAlias(server), createAlias(server)]);
      const talk = await SmtpTalk.greeted(port);
      await talk.say('MAIL FROM:<sender@example.org>');
      await talk.say(`RCPT TO:<${alias.address}>`);
      await talk.say('DATA');

      talk.write(
        `${mailText()}${end}MAIL FROM:<evil@example.org>\r\nRCPT TO:<${other.address}>\r\nDATA\r\nSubject: smuggled\r\n\r\nx\r\n.\r\n`,
      );
      expect(await talk.answer()).toMatch(/^250 2\.6\.0 /);
      expect(await talk.say('NOOP')).toMatch(/^250 2\.0\.0 /);
      expect([(await rowsOf(alias)).length, (await rowsOf(other)).length]).toEqual([1, 0]);
      expect((await rowsOf(alias))[0]?.raw?.toString('latin1')).toContain('Subject: smuggled');
      talk.close();
    });

    it('a client that disconnects during DATA in any way leaves nothing, and other clients are served', async () => {
      const alias = await createAlias(server);
      for (const [size, isReset] of [
        [100, false],
        [100, true],
        [600_000, false],
        [600_000, true],
      ] as const) {
        const talk = await SmtpTalk.greeted(port);
        await talk.say('MAIL FROM:<sender@example.org>');
        await talk.say(`RCPT TO:<${alias.address}>`);
        await talk.say('DATA');
        talk.write(`${mailText()}\r\n${'x'.repeat(size)}`);
        if (isReset) talk.socket.resetAndDestroy();
        else talk.socket.end();
        await once(talk.socket, 'close');
      }

      expect(await sendMail(port, alias.address, mailText())).toMatch(/^250 /);
      expect(await rowsOf(alias)).toHaveLength(1);
    });

    it('a connection that sends only pointless commands is closed with 421 4.7.0, and so is one that guesses recipients', async () => {
      const noops = await SmtpTalk.greeted(port);
      noops.write('NOOP\r\n'.repeat(400));
      let last = '';
      for (let answer = await noops.answer(); answer !== 'closed'; answer = await noops.answer()) last = answer;
      expect(last).toMatch(/^421 4\.7\.0 /);

      const guesser = await SmtpTalk.greeted(port);
      await guesser.say('MAIL FROM:<a@example.org>');
      for (let i = 0; i < 5; i += 1)
        expect(await guesser.say(`RCPT TO:<guess${i}.default@${PLATFORM}>`)).toMatch(/^550 5\.1\.1 /);
      guesser.close();
    });

    it('421 4.7.0 after the twentieth connection of an address; once these are closed, new ones are accepted', async () => {
      const talks = await Promise.all(Array.from({ length: 24 }, () => SmtpTalk.open(port)));

      const greetings = await Promise.all(talks.map((talk) => talk.answer()));
      expect(greetings.filter((greeting) => greeting.startsWith('220')).length).toBe(20);
      expect(greetings.filter((greeting) => greeting.startsWith('421 4.7.0 ')).length).toBe(4);
      for (const talk of talks) talk.close();
      const greeting = async (): Promise<string> => {
        const talk = await SmtpTalk.open(port);
        const said = await talk.answer();
        talk.close();
        return said;
      };
      expect(await until(greeting, (said) => said.startsWith('220'))).toMatch(/^220 /);
    });

    it('a client that sends before the greeting, or speaks HTTP, is disconnected', async () => {
      const soon = await SmtpTalk.open(port, 'EHLO client.example\r\n');
      expect(await soon.answer()).toMatch(/^421 /);
      const http = await SmtpTalk.open(port);
      await http.answer();
      expect(await http.say('GET / HTTP/1.1')).toMatch(/^421 /);
    });

    it('control characters and overlong lines in commands are rejected', async () => {
      const talk = await SmtpTalk.greeted(port);
      expect(await talk.say('MAIL FROM:<a\rb@example.org>')).toMatch(/^501 /);
      expect(await talk.say(`EHLO ${'x'.repeat(400)}`)).toMatch(/^501 /);
      talk.write('x'.repeat(40_000));
      expect(await talk.answer()).toMatch(/^421 /);
    });
  });

  describe('a separate process', () => {
    it('ROLE=smtp serves its health endpoint and no other routes', async () => {
      const ready = await edge.api('GET', '/health/ready');

      expect([ready.status, ready.json.parts?.smtp ?? ready.json]).toEqual([
        200,
        expect.objectContaining({ ready: true }),
      ]);
      expect((await fetch(`${edge.url}/in/default/none`, { method: 'POST', body: '{}' })).status).toBe(404);
    });

    it('the PROXY header of the load balancer names the client; without it the balancer gets no greeting, and other clients cannot send it', async () => {
      const alias = await createAlias(server);
      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('250'),
      );
      const proxied = connect({ port: edgePort, host: '127.0.0.1', localAddress: BALANCER });
      await once(proxied, 'connect');
      proxied.write('PROXY TCP4 203.0.113.7 192.0.2.1 40000 25\r\n');
      const script = [
        'EHLO client.example',
        'MAIL FROM:<sender@example.org>',
        `RCPT TO:<${alias.address}>`,
        'DATA',
        `${mailText()}\r\n.`,
        'QUIT',
      ];
      let answers = '';
      proxied
        .setEncoding('latin1')
        .on('data', (text: string) => {
          answers += text;
          if (/(?:^|\n)\d{3} [^\n]*\n$/.test(answers)) proxied.write(`${script.shift() ?? 'NOOP'}\r\n`);
        })
        .on('error', () => undefined);
      await once(proxied, 'close');

      expect((await rowsOf(alias)).map(({ client_ip: ip }) => ip)).toEqual(['203.0.113.7']);
      const silent = connect({ port: edgePort, host: '127.0.0.1', localAddress: BALANCER });
      let said = '';
      silent
        .setEncoding('latin1')
        .on('data', (text: string) => (said += text))
        .on('error', () => undefined);
      silent.write('EHLO client.example\r\n');
      await once(silent, 'close');
      expect(said).toBe('* BAD Invalid PROXY header\r\n');
      const stranger = await SmtpTalk.open(edgePort);
      await stranger.answer();
      expect(await stranger.say('PROXY TCP4 203.0.113.7 192.0.2.1 40000 25')).toMatch(/^500 /);
      stranger.close();
    });

    it('plain-text commands sent ahead of STARTTLS are not executed after it', async () => {
      const alias = await createAlias(server);
      await until(
        () => rcpt(edgePort, alias.address),
        (answer) => answer.startsWith('250'),
      );
      const talk = await SmtpTalk.greeted(edgePort);
      talk.write(`STARTTLS\r\nMAIL FROM:<evil@example.org>\r\nRCPT TO:<${alias.address}>\r\n`);
      expect(await talk.answer()).toMatch(/^220 /);
      talk.socket.removeAllListeners('data');
      const secure = connectTls({ socket: talk.socket, rejectUnauthorized: false });
      await once(secure, 'secureConnect');

      secure.write('EHLO client.example\r\n');
      await once(secure, 'data');
      secure.write('DATA\r\n');
      expect(String((await once(secure, 'data'))[0])).toMatch(/^503 /);
      secure.destroy();
    });

    it('metrics show connections, messages, rejections by code, bytes and the time to the commit', async () => {
      const { text } = await server.api('GET', '/metrics', undefined, { authorization: `Bearer ${METRICS_TOKEN}` });

      for (const line of [
        /^posthorn_smtp_connections \d/m,
        /^posthorn_smtp_connections_total [1-9]/m,
        /^posthorn_smtp_messages_accepted_total [1-9]/m,
        /^posthorn_smtp_refused_total\{code="550 5\.1\.1"\} [1-9]/m,
        /^posthorn_smtp_received_bytes_total [1-9]/m,
        /^posthorn_smtp_commit_seconds_count [1-9]/m,
        /^posthorn_inbox_messages_total\{outcome="stored"\} [1-9]/m,
        /^posthorn_inbox_group_messages_count [1-9]/m,
      ]) {
        expect(text).toMatch(line);
      }
    });
  });
});
