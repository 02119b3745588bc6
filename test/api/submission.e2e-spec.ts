import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { generateApiKey } from '../../src/modules/auth/keys/api-key.js';
import { createDatabase, type TestDatabase } from '../support/database.js';
import { hasPythonModules, hasTool, isSwaksUsable } from '../support/optional-tools.js';
import { isPostfixInstalled, Postfix } from '../support/postfix.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey } from './answers.js';
import { type DatabaseLink, openLink } from './database-link.js';
import { emailIn, emailOf, rawOf, simulated } from './emailing.js';
import { until } from './polling.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import { expectStatus, openSql, type Sql } from './scene.js';
import { SmtpTalk } from './smtp-client.js';
import { idIn, loggedIn, mailerOf, plain, submissionPortOf, submit } from './submitting.js';

const PLATFORM = 'posthorn.example';
const FROM = 'Shop <shop@mail.example.com>';
const METRICS_TOKEN = 'for-the-scraper';
const TLS_FOLDER = path.resolve(import.meta.dirname, '..', 'support', 'tls');
/** Address of the load balancer. Connections from this address begin with a PROXY header. */
const BALANCER = '127.0.0.2';
const { POSTHORN_TEST_PYTHON: PYTHON } = process.env;
const hasSwaks = isSwaksUsable();
const hasPostfix = isPostfixInstalled();
const hasPython = hasTool(
  {
    skipped: 'the tests with smtplib and dkimpy',
    tool: 'Python with dkimpy',
    install: 'set POSTHORN_TEST_PYTHON, as .ci/run does',
  },
  () => hasPythonModules(PYTHON, 'dkim', 'smtplib'),
);

let made = 0;
const recipient = (): string => `r${(made += 1)}@one.example`;

/** Builds a message with a unique subject. */
function letter(fields: readonly string[] = [], text = 'It is on its way.'): { subject: string; message: string } {
  made += 1;
  const subject = `Order ${made}`;
  const head = [`From: ${FROM}`, `To: customer@one.example`, `Subject: ${subject}`, ...fields];
  return { subject, message: [...head, '', text].join('\r\n') };
}

/** Runs a program without blocking this process, in which the relay runs. Returns its output. */
async function output(program: string, args: readonly string[], input: string | Buffer = ''): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin.end(input);
  await once(child, 'close');
  return said;
}

describe('submission of emails over SMTP', () => {
  let database: TestDatabase;
  let link: DatabaseLink;
  let relay: Relay;
  let server: PosthornServer;
  let sql: Sql;
  let key: string;
  let port: number;

  beforeAll(async () => {
    [database, relay] = await Promise.all([createDatabase(), startRelay()]);
    link = await openLink(database.url);
    server = await startServer({
      DATABASE_URL: link.url,
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: PLATFORM,
      LOG_LEVEL: 'info',
      METRICS_TOKEN,
      SMTP_TLS_CERT: path.join(TLS_FOLDER, 'localhost-cert.pem'),
      SMTP_TLS_KEY: path.join(TLS_FOLDER, 'localhost-key.pem'),
      SMTP_TRUST_PROXY: `${BALANCER}/32`,
      SUBMISSIONS_PORT: '0',
    });
    sql = openSql({ databaseUrl: database.url });
    port = await submissionPortOf(server, 'with STARTTLS');
    key = (await createKey(server, { scope: 'write' })).key;
    await verifyDomain(server, sql, 'mail.example.com');
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await link?.close();
    await relay?.close();
    await database?.drop();
  });

  const arrived = (subject: string) =>
    until(
      async () => relay.taken.filter(({ raw }) => raw.includes(`Subject: ${subject}\r\n`)),
      (found) => found.length > 0,
    );
  const emails = async (): Promise<number> =>
    (await sql.rows<{ count: number }>('select count(*)::int as count from emails'))[0]?.count ?? -1;

  /** Returns the output of dkimpy for a message, with the installation's own public key. */
  async function dkimpy(raw: string): Promise<string> {
    const selector = /\bs=([a-z0-9]+)/.exec(raw)?.[1] ?? '';
    const [row] = await sql.rows<{ publicKey: string }>(
      'select public_key as "publicKey" from dkim_keys where selector = $1',
      [selector],
    );
    const script = [
      'import dkim, sys',
      'record = sys.argv[1].encode()',
      'print(dkim.verify(sys.stdin.buffer.read(), dnsfunc=lambda name, timeout=5: record))',
    ].join('\n');
    const record = `v=DKIM1; k=rsa; p=${row?.publicKey}`;
    return (await output(PYTHON as string, ['-c', script, record], Buffer.from(raw, 'latin1'))).trim();
  }

  describe('250', () => {
    it('250 2.0.0 with the id after the commit: the bytes stay as submitted, apart from control headers and the signature', async () => {
      const { subject, message } = letter(
        [
          'Bcc: hidden@three.example',
          'X-Tag: kind=receipt',
          'X-Idempotency-Key: ignored-in-the-bytes',
          'Date: Mon, 05 Jan 2026 10:00:00 +0000',
          'Message-ID: <own@mail.example.com>',
          'X-Odd:   spaces\tand\r\n\tfolding  ',
          'Content-Type: text/plain; charset=utf-8',
        ],
        'Grüße\r\n..dots\r\n.\r\nend',
      );

      const answer = await submit(
        port,
        key,
        ['Customer@One.example', 'hidden@three.example'],
        Buffer.from(message).toString('latin1'),
      );
      const [relayed] = await arrived(subject);
      const id = idIn(answer);
      const sent = Buffer.from(`${message}\r\n`)
        .toString('latin1')
        .replace(/(?:Bcc|X-Tag|X-Idempotency-Key): .*\r\n/g, '');
      expect(relayed?.raw.slice(relayed.raw.indexOf('From: '))).toBe(sent);
      expect(relayed?.raw).toMatch(/^DKIM-Signature: [^]*d=mail\.example\.com/);
      expect(Buffer.from(await rawOf(server, id)).toString('latin1')).toBe(relayed?.raw);
      expect(relayed?.to.sort()).toEqual(['Customer@one.example', 'hidden@three.example']);
      expect(relayed?.from).toMatch(/^b\+r[a-z2-7]{56}@/);
      expect(await emailIn(server, id, 'delivered')).toMatchObject({
        from: FROM,
        to: ['Customer@one.example'],
        cc: [],
        bcc: ['hidden@three.example'],
        subject,
        message_id: '<own@mail.example.com>',
        tags: [{ name: 'kind', value: 'receipt' }],
      });
      expect(expectStatus(await server.api('GET', `/v1/emails/${id}/content`), 200).json.text).toContain('Grüße');
    });

    it('text and HTML parts in sequence are shown as the text and the HTML of the email', async () => {
      const parts = ['', '--x', '', 'plain', '--x', 'Content-Type: text/html', '', '<p>hi</p>', '--x--'].join('\r\n');
      const { message } = letter(['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=x'], parts);

      const id = idIn(await submit(port, key, 'customer@one.example', message));

      const shown = { text: 'plain', html: '<div style="white-space:pre-wrap">plain</div><br/>\n<p>hi</p>' };
      expect(expectStatus(await server.api('GET', `/v1/emails/${id}`), 200).json).toMatchObject(shown);
      expect(expectStatus(await server.api('GET', `/v1/emails/${id}/content`), 200).json).toMatchObject(shown);
    });

    it('a uuencoded attachment has the same size and bytes in the email, in the list, and behind the link', async () => {
      const file = ['begin 644 a.bin', '$86)C9```', '`', 'end'].join('\r\n');
      const head = [
        '--x',
        'Content-Type: application/octet-stream; name=a.bin',
        'Content-Transfer-Encoding: x-uuencode',
      ];
      const parts = ['--x', '', 'hi', ...head, '', file, '--x--'].join('\r\n');
      const { message } = letter(['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=x'], parts);

      const id = idIn(await submit(port, key, 'customer@one.example', message));

      const { attachments } = await emailOf(server, id);
      const { data } = expectStatus(await server.api('GET', `/v1/emails/${id}/attachments`), 200).json;
      const [linked] = data as { size: number; download_url: string }[];
      expect([attachments, linked?.size]).toEqual([[expect.objectContaining({ size_bytes: 4 })], 4]);
      expect(await (await fetch(linked?.download_url ?? '')).text()).toBe('abcd');
    });

    it('a missing Date and Message-ID are added, and lists and events show the email', async () => {
      const { subject, message } = letter();

      const id = idIn(await submit(port, key, recipient(), message, ''));
      const [relayed] = await arrived(subject);
      expect(relayed?.raw).toMatch(
        /\r\nMessage-ID: <evt_[0-9A-Z]{26}@mail\.example\.com>\r\nDate: [A-Z][a-z]{2}, .* \+0000\r\n/,
      );
      expect((await emailOf(server, id)).message_id).toBe(`<${id}@mail.example.com>`);
      const list = expectStatus(await server.api('GET', '/v1/emails?limit=5'), 200).json.data as { id: string }[];
      expect(list.map((email) => email.id)).toContain(id);
      expectStatus(await server.api('GET', `/v1/events/${id}`), 200);
    });

    it.each([
      [
        'AUTH LOGIN',
        (password: string) => [
          'AUTH LOGIN',
          Buffer.from('ada').toString('base64'),
          Buffer.from(password).toString('base64'),
        ],
      ],
      ['AUTH PLAIN in two steps', (password: string) => ['AUTH PLAIN', plain(password, '')]],
    ])('%s logs in with any user name', async (_name, lines) => {
      const talk = await SmtpTalk.greeted(port);
      let last = '';
      for (const line of lines(key)) last = await talk.say(line);

      expect(last).toMatch(/^235 2\.7\.0 /);
      expect(await talk.send(recipient(), letter().message)).toMatch(/^250 2\.0\.0 evt_/);
      talk.close();
    });

    it.each([
      ['STARTTLS', 'with STARTTLS', {}],
      ['TLS from the first byte', 'with TLS', { secure: true, requireTLS: false }],
    ] as const)('nodemailer submits over %s, with attachments that GET shows', async (_name, how, options) => {
      const mailer = mailerOf(await submissionPortOf(server, how), key, options);
      const subject = `nodemailer ${how}`;
      const to = recipient();

      const { response } = await mailer.sendMail({
        from: FROM,
        to: `"Grün, Ada" <${to}>`,
        cc: 'copy@two.example',
        bcc: 'blind@two.example',
        subject,
        text: 'Grüße',
        html: '<p>Grüße</p>',
        headers: { 'X-Tag': 'library=nodemailer' },
        attachments: [{ filename: 'grüße.bin', content: randomBytes(300_000) }],
      });
      mailer.close();
      const id = idIn(response);
      const [relayed] = await arrived(subject);
      expect(relayed?.raw).not.toMatch(/blind@|X-Tag/);
      expect(await emailOf(server, id)).toMatchObject({
        to: [`"Grün, Ada" <${to}>`],
        cc: ['copy@two.example'],
        bcc: ['blind@two.example'],
        attachments: [{ filename: 'grüße.bin', content_type: 'application/octet-stream', size_bytes: 300_000 }],
      });
      if (hasPython) expect(await dkimpy(relayed?.raw ?? '')).toBe('True');
    });

    (hasPython ? it : it.skip)(
      'smtplib submits over STARTTLS, and dkimpy verifies the message that leaves',
      async () => {
        const script = `
import smtplib, ssl, sys
from email.message import EmailMessage
message = EmailMessage()
message['From'] = '${FROM}'
message['To'] = 'python@one.example'
message['Subject'] = 'By smtplib'
message.set_content('Grüße aus Python, ' * 40)
message.add_alternative('<p>Grüße</p>', subtype='html')
message.add_attachment(bytes(range(256)) * 40, maintype='application', subtype='octet-stream', filename='a.bin')
context = ssl.create_default_context()
context.check_hostname = False
context.verify_mode = ssl.CERT_NONE
with smtplib.SMTP('127.0.0.1', ${port}) as smtp:
    smtp.starttls(context=context)
    smtp.login('api', sys.argv[1])
    print(smtp.send_message(message))
`;

        expect(await output(PYTHON as string, ['-c', script, key])).toBe('{}\n');
        const [relayed] = await arrived('By smtplib');
        expect(await dkimpy(relayed?.raw ?? '')).toBe('True');
        expect(await dkimpy((relayed?.raw ?? '').replace('By smtplib', 'By others'))).toBe('False');
      },
    );

    (hasSwaks ? it : it.skip)('swaks submits with each mechanism, over STARTTLS', async () => {
      for (const mechanism of ['PLAIN', 'LOGIN']) {
        const said = await output('swaks', [
          ...['--server', '127.0.0.1', '--port', String(port), '--tls', '--auth', mechanism],
          ...['--auth-user', 'swaks', '--auth-password', key, '--from', 'shop@mail.example.com', '--to', recipient()],
        ]);

        expect(said).toMatch(/250 2\.0\.0 evt_/);
      }
    });

    (hasPostfix ? it : it.skip)('Postfix submits as a host that relays its mail here', async () => {
      const postfix = await Postfix.start(
        port,
        { 'gone@one.example': '550 5.1.1 No such user' },
        {},
        { user: 'postfix', password: key },
      );
      const { subject, message } = letter(['X-Tag: by=postfix']);
      try {
        const talk = await SmtpTalk.greeted(postfix.port);
        expect(await talk.send(recipient(), message)).toMatch(/^250 /);
        talk.close();
        const [relayed] = await arrived(subject);

        expect(relayed?.raw).toMatch(/\r\nReceived: [^]*by relay\.example\.com/);
        expect(relayed?.raw).not.toContain('X-Tag');
      } finally {
        await postfix.stop();
      }
    });
  });

  describe('rules of the API', () => {
    it('mail of a test key is captured, also from a domain that is verified in the test environment', async () => {
      const test = await createKey(server, { scope: 'admin', environment: 'test' });
      const { message } = letter();
      expect(await submit(port, test.key, recipient(), message)).toMatch(
        /^550 5\.7\.1 from: mail\.example\.com is not a verified sending domain here/,
      );
      const domain = { domain: 'test.example.com', kind: 'email-send' };
      expectStatus(await server.api('POST', '/v1/domains', domain, as(test.key)), 201);
      await sql.rows(
        `update domains set state = 'verified', is_owner = true, sending_enabled = true, next_check_at = now() + interval '1 day', verified_at = now() where host = $1`,
        [domain.domain],
      );
      const before = relay.taken.length;

      const id = idIn(await submit(port, test.key, recipient(), message.replace(FROM, 'a@test.example.com')));
      const email = await until(
        () => emailOf(server, id, as(test.key)),
        ({ status }) => status === 'delivered',
      );
      expect([email.captured, relay.taken.length]).toEqual([true, before]);
      expect((await server.api('GET', `/v1/emails/${id}`)).status).toBe(404);
    });

    it('a suppressed recipient gets nothing, and the others do', async () => {
      const [gone, fine] = [recipient(), recipient()];
      expectStatus(await server.api('POST', '/v1/suppressions', { email: gone }), 201);
      const { subject, message } = letter();

      const id = idIn(await submit(port, key, [gone.toUpperCase(), fine], message));
      expect((await arrived(subject))[0]?.to).toEqual([fine]);
      await until(
        () => emailOf(server, id),
        ({ recipients }) => recipients[0].status === 'suppressed',
      );
    });

    it('SMTPUTF8: recipients and authors outside ASCII are accepted as by the API', async () => {
      const bytes = (text: string): string => Buffer.from(text).toString('latin1');
      const { subject, message } = letter();
      const to = ['zo\u00eb@one.example', 'b@one.example'];
      const talk = await loggedIn(port, key);
      await talk.say('MAIL FROM:<shop@mail.example.com> SMTPUTF8');
      for (const each of to) expect(await talk.say(`RCPT TO:<${bytes(each)}>`)).toMatch(/^250 /);
      expect(await talk.say(`RCPT TO:<${bytes('\uff41')}@one.example>`)).toMatch(
        /^553 5\.1\.3 The part before the "@"/,
      );
      // The client sends this address in Latin-1, which is not valid UTF-8.
      expect(await talk.say('RCPT TO:<z\u00f6@one.example>')).toMatch(/^553 5\.1\.3 .*not valid UTF-8/);
      await talk.say('DATA');
      talk.write(bytes(`${message.replace(FROM, 'J\u00f6rg <j\u00f6rg@mail.example.com>')}\r\n.\r\n`));

      const id = idIn(await talk.answer());

      talk.close();
      expect((await arrived(subject))[0]?.to.sort()).toEqual([...to].sort());
      expect(await emailIn(server, id, 'delivered')).toMatchObject({
        from: 'J\u00f6rg <j\u00f6rg@mail.example.com>',
        bcc: to,
      });
    });

    it('an encoded NUL or line feed in any header is accepted, and becomes a space in what the API shows', async () => {
      const fields = [
        'Cc: =?utf-8?Q?ACME=0AInc?= <acme@one.example>, ops@one.example',
        'Reply-To: =?utf-8?q?A=00=0D=0AB?= <reply@one.example>',
        'Sender: =?utf-8?q?A=00B?= <shop@mail.example.com>',
        'X-Note: =?utf-8?q?A=00B?=',
        'In-Reply-To: =?utf-8?q?A=00B?=',
        'Content-Type: text/plain; name="=?utf-8?q?A=00B?="',
      ];
      const message = letter(fields)
        .message.replace('To: customer@one.example', 'To: =?utf-8?q?x=00?= <customer@one.example>')
        .replace(/Subject: .*/, 'Subject: =?utf-8?q?A=00B?=')
        .replace(FROM, '=?utf-8?q?A=00B?= <shop@mail.example.com>');

      const to = ['customer', 'acme', 'ops'].map((name) => `${name}@one.example`);
      const id = idIn(await submit(port, key, to, message));

      expect(await emailIn(server, id, 'delivered')).toMatchObject({
        to: ['x <customer@one.example>'],
        cc: ['ACME Inc <acme@one.example>', 'ops@one.example'],
        reply_to: ['A B <reply@one.example>'],
        subject: 'A B',
      });
    });

    it.each(['bounced', 'suppressed'])('simulator addresses play their part: %s', async (role) => {
      const id = idIn(await submit(port, key, simulated(role).replace('localhost', PLATFORM), letter().message));

      expect(await emailIn(server, id, role)).toMatchObject({ recipients: [{ status: role }] });
    });

    it('X-Idempotency-Key: a message that a library builds again is the same email; another text is 554', async () => {
      const mailer = mailerOf(port, key);
      const to = recipient();
      const send = async (text: string): Promise<string> => {
        const headers = { 'X-Idempotency-Key': 'order 7' };
        const html = '<p>x</p>';
        return (await mailer.sendMail({ from: FROM, to, subject: 'Once', text, html, headers })).response;
      };

      const [first, again] = [await send('Hello'), await send('Hello')];
      expect(idIn(again)).toBe(idIn(first));
      await expect(send('Bye')).rejects.toThrow(/554 5\.6\.0 This Idempotency-Key was used with another body/);
      const at = await Promise.all(
        Array.from({ length: 5 }, () =>
          mailer
            .sendMail({ from: FROM, to, subject: 'At once', text: 'x', headers: { 'X-Idempotency-Key': 'order 8' } })
            .then(({ response }) => response, String),
        ),
      );
      mailer.close();
      const ids = new Set(at.filter((answer) => answer.startsWith('250')).map(idIn));
      expect([ids.size, at.every((answer) => /^250|451 4\.3\.0/.test(answer))]).toEqual([1, true]);
      expect(await sql.rows(`select 1 from emails where subject = 'At once'`)).toHaveLength(1);
    });

    it('X-Unsubscribe-Topic adds the signed link of the recipient, who then gets no mail of the topic; the body keeps its bytes', async () => {
      const topic = { name: 'News', key: 'news', default_subscription: 'opt_in' };
      expectStatus(await server.api('POST', '/v1/topics', topic), 201);
      const to = recipient();
      const text = 'Off: {{unsubscribe_url}}';
      const { subject, message } = letter(['X-Unsubscribe-Topic: news'], text);

      const id = idIn(await submit(port, key, to, message));
      const raw = (await arrived(subject))[0]?.raw ?? '';
      const url = /^List-Unsubscribe: <(\S+)>\r$/m.exec(raw)?.[1] ?? '';
      expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
      expect(raw).not.toContain('X-Unsubscribe');
      expect(raw.endsWith(`\r\n\r\n${text}\r\n`)).toBe(true);
      if (hasPython) {
        expect(await dkimpy(raw)).toBe('True');
        for (const name of ['List-Unsubscribe', 'List-Unsubscribe-Post'])
          expect(await dkimpy(raw.replace(`\n${name}: `, `\n${name}: x`))).toBe('False');
      }
      const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
      expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
      expect((await server.api('GET', `/v1/topics/news/subscriptions/${to}`)).json).toMatchObject({
        subscription: 'opt_out',
        source_id: id,
      });
      const again = idIn(await submit(port, key, to, letter(['x-unsubscribe-topic: news']).message));
      expect(await emailIn(server, again, 'suppressed')).toMatchObject({
        status: 'suppressed',
        recipients: [{ detail: 'The address is not subscribed to the topic "news".' }],
      });
      expect(idIn(await submit(port, key, to, letter().message))).toMatch(/^evt_/);
    });

    it('X-Unsubscribe: true adds the link that suppresses the address', async () => {
      const to = recipient();
      const { subject, message } = letter(['X-Unsubscribe: true']);

      await submit(port, key, to, message);
      const url = /^List-Unsubscribe: <(\S+)>\r$/m.exec((await arrived(subject))[0]?.raw ?? '')?.[1] ?? '';
      const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
      expect((await fetch(url, { method: 'POST', body })).status).toBe(200);
      expect((await server.api('GET', `/v1/suppressions/${to}`)).json).toMatchObject({ origin: 'unsubscribe' });
    });

    it.each<[string, RegExp, string[], number?]>([
      ['an unknown topic', /unsubscribe\.topic: There is no topic other/, ['X-Unsubscribe-Topic: other']],
      ['another value than true', /x-unsubscribe: has only the value true/, ['X-Unsubscribe: yes']],
      ['both headers', /a second time/, ['X-Unsubscribe: true', 'X-Unsubscribe-Topic: news']],
      [
        'a List-Unsubscribe header',
        /sets this header itself/,
        ['X-Unsubscribe: true', 'List-Unsubscribe: <https://a.example>'],
      ],
      ['two recipients', /exactly one recipient/, ['X-Unsubscribe: true'], 2],
    ])(
      '554 5.6.0 for an unsubscribe link with %s, and nothing is stored',
      async (_name, expected, fields, count = 1) => {
        const before = await emails();

        const answer = await submit(port, key, Array.from({ length: count }, recipient), letter(fields).message);

        expect(answer).toMatch(/^554 5\.6\.0 /);
        expect(answer).toMatch(expected);
        expect(await emails()).toBe(before);
      },
    );

    it.each<[string, RegExp, string[], string?]>([
      ['another domain in From', /^550 5\.7\.1 from: other\.example is not a verified/, ['From: a@other.example']],
      ['another domain in Sender', /^550 5\.7\.1 from: other\.example/, [`From: ${FROM}`, 'Sender: a@other.example']],
      ['no From', /^554 5\.6\.0 The message has no From header/, ['To: a@one.example']],
      ['two authors', /^554 5\.6\.0 .*exactly one address/, ['From: a@mail.example.com, b@mail.example.com']],
      ['an invalid tag', /^554 5\.6\.0 X-Tag: must be name=value/, [`From: ${FROM}`, 'X-Tag: a b=c']],
      ['an instruction for a relay', /^554 5\.6\.0 .*x-smtpapi/, [`From: ${FROM}`, 'X-SMTPAPI: {}']],
      ['a line of 999 bytes', /^554 5\.6\.0 .*longer than 998 bytes/, [`From: ${FROM}`], 'x'.repeat(999)],
    ])('%s: %s, and nothing is stored', async (_name, expected, fields, text = 'x') => {
      const before = await emails();

      expect(await submit(port, key, recipient(), [...fields, 'Subject: refused', '', text].join('\r\n'))).toMatch(
        expected,
      );
      expect(await emails()).toBe(before);
    });

    it('452 4.5.3 for the 51st recipient, and the fifty others get the email', async () => {
      const talk = await loggedIn(port, key);
      const { subject, message } = letter();
      await talk.say('MAIL FROM:<shop@mail.example.com>');

      for (let i = 0; i < 50; i += 1) expect(await talk.say(`RCPT TO:<many${i}@one.example>`)).toMatch(/^250 /);
      expect(await talk.say('RCPT TO:<many50@one.example>')).toMatch(/^452 4\.5\.3 .*at most 50 recipients/);
      expect(await talk.say('RCPT TO:<ü@one.example>')).toMatch(/^452 4\.5\.3 /);
      await talk.say('DATA');
      talk.write(`${message}\r\n.\r\n`);
      expect(await talk.answer()).toMatch(/^250 2\.0\.0 /);
      expect((await arrived(subject))[0]?.to).toHaveLength(50);
      talk.close();
    });

    it('553 5.1.3 for an address that the API refuses; 552 5.3.4 above 18 MB, or 10 MB of attachments, or 20 of them', async () => {
      const talk = await loggedIn(port, key);
      await talk.say('MAIL FROM:<shop@mail.example.com>');
      expect(await talk.say('RCPT TO:<a@[127.0.0.1]>')).toMatch(/^553 5\.1\.3 Domain literals/);
      await talk.say('RSET');
      expect(await talk.say(`MAIL FROM:<a@b.example> SIZE=${18 * 1024 * 1024 + 1}`)).toMatch(/^552 5\.3\.4 /);
      talk.close();
      const mailer = mailerOf(port, key);
      const send = (files: number, bytes: number): Promise<unknown> =>
        mailer.sendMail({
          ...{ from: FROM, to: recipient(), subject: 'files', text: 'x' },
          attachments: Array.from({ length: files }, () => ({ filename: 'a.bin', content: Buffer.alloc(bytes) })),
        });

      await expect(send(1, 10 * 1024 * 1024 + 1)).rejects.toThrow(/552 5\.3\.4 The attachments of a request/);
      await expect(send(1, 14 * 1024 * 1024)).rejects.toThrow(/552 5\.3\.4 /);
      await expect(send(21, 10)).rejects.toThrow(/554 5\.6\.0 .*at most 20 attachments/);
      await expect(send(20, 512 * 1024)).resolves.toBeDefined();
      mailer.close();
    });

    it('451 4.7.0 once the quota of the key is used up', async () => {
      const limited = await startServer({
        ...server.env,
        SUBMISSIONS_PORT: '',
        SMTP_PORT: 'off',
        RATE_LIMIT_KEY: '3/60',
      });
      try {
        const talk = await loggedIn(await submissionPortOf(limited, 'with STARTTLS'), key);
        const answers: string[] = [];
        for (let i = 0; i < 4; i += 1) answers.push(await talk.send(recipient(), letter().message));

        expect(answers.map((answer) => answer.slice(0, 9))).toEqual([
          ...Array.from({ length: 3 }, () => '250 2.0.0'),
          '451 4.7.0',
        ]);
        talk.close();
      } finally {
        await limited.stop();
      }
    });

    it('451 4.3.0 while the database is unavailable, and the same message is accepted once it is back', async () => {
      const talk = await loggedIn(port, key);
      const { message, subject } = letter();
      await talk.say('MAIL FROM:<shop@mail.example.com>');
      await talk.say(`RCPT TO:<${recipient()}>`);
      await talk.say('DATA');

      link.cut();
      talk.write(`${message}\r\n.\r\n`);
      expect(await talk.answer()).toMatch(/^451 4\.3\.0 /);
      link.restore();
      const answer = await until(
        () => talk.send(recipient(), message),
        (said) => said.startsWith('250'),
      );
      idIn(answer);
      expect(await sql.rows('select 1 from emails where subject = $1', [subject])).toHaveLength(1);
      talk.close();
    });
  });

  describe('logins', () => {
    it('530 5.7.0 without a login; 535 5.7.8 for an unknown key, a key of scope read, and other passwords', async () => {
      const talk = await SmtpTalk.greeted(port);
      expect(await talk.say('MAIL FROM:<a@b.example>')).toMatch(/^530 5\.7\.0 Log in first/);
      talk.close();
      const reader = (await createKey(server, { scope: 'read' })).key;

      for (const [password, sentence] of [
        [generateApiKey('live', randomBytes(32)), /unknown, expired or revoked/],
        ['hunter2', /unknown, expired or revoked/],
        ['x'.repeat(5_000), /unknown, expired or revoked/],
        [reader, /needs a key of scope write; this one has scope read/],
      ] as const) {
        const other = await SmtpTalk.greeted(port);
        const answer = await other.say(`AUTH PLAIN ${plain(password)}`);
        expect(answer).toMatch(/^535 5\.7\.8 /);
        expect(answer).toMatch(sentence);
        expect(await other.say('MAIL FROM:<a@b.example>')).toMatch(/^530 5\.7\.0 /);
        other.close();
      }
    });

    it('AUTH needs TLS unless the client is on this machine: it is not offered, and gets 538 5.7.11', async () => {
      const proxied = connect({ port, host: '127.0.0.1', localAddress: BALANCER });
      await once(proxied, 'connect');
      proxied.write('PROXY TCP4 203.0.113.7 192.0.2.1 40000 25\r\n');
      const lines: string[] = [];
      proxied.setEncoding('latin1').on('data', (text: string) => lines.push(text));
      const say = async (line: string): Promise<string> => {
        const count = lines.length;
        proxied.write(`${line}\r\n`);
        await until(
          async () => lines.length,
          (length) => length > count,
        );
        return lines.slice(count).join('');
      };
      await until(
        async () => lines.join(''),
        (said) => said.startsWith('220'),
      );

      const offers = await say('EHLO client.example');
      expect([/AUTH/.test(offers), /STARTTLS/.test(offers)]).toEqual([false, true]);
      expect(await say(`AUTH PLAIN ${plain(key)}`)).toMatch(/^538 5\.7\.11 .*STARTTLS/);
      expect(await say('MAIL FROM:<a@b.example>')).toMatch(/^538 5\.7\.11 /);
      expect(await say('STARTTLS')).toMatch(/^220/);
      proxied.removeAllListeners('data');
      const secure = connectTls({ socket: proxied, rejectUnauthorized: false });
      await once(secure, 'secureConnect');
      secure.write('EHLO client.example\r\n');
      expect(String((await once(secure, 'data'))[0])).toMatch(/AUTH PLAIN LOGIN/);
      secure.write(`AUTH PLAIN ${plain(key)}\r\n`);
      expect(String((await once(secure, 'data'))[0])).toMatch(/^235 2\.7\.0 /);
      secure.destroy();
    });

    it('a login before STARTTLS does not count after it', async () => {
      const talk = await loggedIn(port, key);
      await talk.say('STARTTLS');
      talk.socket.removeAllListeners('data');
      const secure = connectTls({ socket: talk.socket, rejectUnauthorized: false });
      await once(secure, 'secureConnect');

      secure.write('EHLO client.example\r\n');
      await once(secure, 'data');
      secure.write('MAIL FROM:<a@b.example>\r\n');
      expect(String((await once(secure, 'data'))[0])).toMatch(/^530 5\.7\.0 /);
      secure.destroy();
    });

    it('a key that is revoked during a session sends no further message, and another login works', async () => {
      const { id, key: revoked } = await createKey(server, { scope: 'write' });
      const talk = await loggedIn(port, revoked);
      expect(await talk.send(recipient(), letter().message)).toMatch(/^250 2\.0\.0 /);

      expectStatus(await server.api('DELETE', `/v1/keys/${id}`), 204);
      expect(await talk.say('MAIL FROM:<shop@mail.example.com>')).toMatch(/^535 5\.7\.8 .*revoked/);
      expect(await talk.say('RCPT TO:<a@b.example>')).toMatch(/^503 /);
      expect(await talk.say(`AUTH PLAIN ${plain(key)}`)).toMatch(/^235 /);
      expect(await talk.send(recipient(), letter().message)).toMatch(/^250 2\.0\.0 /);
      talk.close();
    });

    it('guessing: the third failure closes the connection, and an address gets 454 4.7.0 after too many; a valid key still works', async () => {
      const answers: string[] = [];
      for (let i = 0; i < 15; i += 1) {
        const talk = await SmtpTalk.greeted(port);
        for (let j = 0; j < 3; j += 1)
          answers.push(await talk.say(`AUTH PLAIN ${plain(generateApiKey('live', randomBytes(32)))}`));
        expect(await talk.answer()).toBe('closed');
      }

      expect(answers.filter((_, i) => i % 3 === 2).every((answer) => /^421 4\.7\.0 /.test(answer))).toBe(true);
      expect(answers.at(-2)).toMatch(/^454 4\.7\.0 Too many failed logins from this address/);
      expect(await submit(port, key, recipient(), letter().message)).toMatch(/^250 2\.0\.0 /);
      for (const secret of [key, plain(key)]) expect(server.logs()).not.toContain(secret);
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
      ['CRLF NUL.CRLF', '\r\n\0.\r\n'],
    ])(
      'smuggling with %s: 554 5.6.0, nothing is stored, and the embedded commands are not executed',
      async (_name, end) => {
        const before = await emails();
        const talk = await loggedIn(port, key);
        await talk.say('MAIL FROM:<shop@mail.example.com>');
        await talk.say(`RCPT TO:<${recipient()}>`);
        await talk.say('DATA');

        talk.write(
          `${letter().message}${end}MAIL FROM:<shop@mail.example.com>\r\nRCPT TO:<x@one.example>\r\nDATA\r\n${letter().message}\r\n.\r\n`,
        );
        expect(await talk.answer()).toMatch(/^554 5\.6\.0 /);
        expect(await talk.say('NOOP')).toMatch(/^250 2\.0\.0 /);
        expect(await emails()).toBe(before);
        talk.close();
      },
    );

    it('a client that disconnects during DATA leaves nothing', async () => {
      const before = await emails();
      for (const size of [100, 600_000]) {
        const talk = await loggedIn(port, key);
        await talk.say('MAIL FROM:<shop@mail.example.com>');
        await talk.say(`RCPT TO:<${recipient()}>`);
        await talk.say('DATA');
        talk.write(`${letter().message}\r\n${'x'.repeat(size)}`);
        talk.socket.resetAndDestroy();
        await once(talk.socket, 'close');
      }

      expect(await submit(port, key, recipient(), letter().message)).toMatch(/^250 2\.0\.0 /);
      expect(await emails()).toBe(before + 1);
    });

    it('a client that sends before its TLS handshake ends, or only pointless commands, is disconnected', async () => {
      const raw = connect({ port: await submissionPortOf(server, 'with TLS'), host: '127.0.0.1' });
      raw.on('error', () => undefined).write('EHLO client.example\r\n');
      await once(raw, 'close');
      const noops = await loggedIn(port, key);
      noops.write('NOOP\r\n'.repeat(400));
      let last = '';
      for (let answer = await noops.answer(); answer !== 'closed'; answer = await noops.answer()) last = answer;

      expect(last).toMatch(/^421 4\.7\.0 /);
    });
  });

  it('the port is open on loopback only, unless there is a certificate', async () => {
    const plainServer = await startServer({
      ...server.env,
      HOST: '0.0.0.0',
      SMTP_PORT: 'off',
      SMTP_TLS_CERT: '',
      SMTP_TLS_KEY: '',
      SUBMISSIONS_PORT: '',
      LOG_LEVEL: 'info',
    });
    try {
      const at = await submissionPortOf(plainServer, 'without STARTTLS');
      expect(plainServer.logs()).toContain('Submission of emails at 127.0.0.1,');
      const other = connect({ port: at, host: '127.0.0.3' });

      await expect(once(other, 'connect')).rejects.toThrow(/ECONNREFUSED/);
      expect(await submit(at, key, recipient(), letter().message)).toMatch(/^250 2\.0\.0 /);
    } finally {
      await plainServer.stop();
    }
  });

  it('metrics and readiness show the listener', async () => {
    const { text } = await server.api('GET', '/metrics', undefined, { authorization: `Bearer ${METRICS_TOKEN}` });

    for (const line of [
      /^posthorn_submission_connections \d/m,
      /^posthorn_submission_connections_total [1-9]/m,
      /^posthorn_submission_messages_accepted_total [1-9]/m,
      /^posthorn_submission_refused_total\{code="554 5\.6\.0"\} [1-9]/m,
      /^posthorn_submission_received_bytes_total [1-9]/m,
      /^posthorn_submission_commit_seconds_count [1-9]/m,
      /^posthorn_submission_logins_total\{outcome="accepted"\} [1-9]/m,
      /^posthorn_submission_logins_total\{outcome="rejected"\} [1-9]/m,
    ])
      expect(text).toMatch(line);
    const ready = await server.api('GET', '/health/ready');
    expect(ready.json.parts?.submission ?? ready.json).toMatchObject({ ready: true });
  });
});
