import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { hasTool, printed } from '../support/optional-tools.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { createKey } from './answers.js';
import { emailIn } from './emailing.js';
import { until } from './polling.js';
import { type Relay, type Relayed, startRelay, verifyDomain } from './relay.js';
import { expectStatus, openSql, type Sql } from './scene.js';
import { submissionPortOf } from './submitting.js';

const TLS_FOLDER = path.resolve(import.meta.dirname, '..', 'support', 'tls');
const HOST = 'mail.example.com';
const FROM = `shop@${HOST}`;
/** Text with non-ASCII characters, and with lines that SMTP clients must escape. */
const TEXT = 'Grüße\n.\n..two dots\n.one dot\nend';

const hasMsmtp = hasTool(
  { skipped: 'the tests with msmtp', tool: 'msmtp', install: 'apt-get install msmtp' },
  () => printed('msmtp', '--version') !== null,
);
const hasPhpMailer = hasTool(
  { skipped: 'the tests with PHPMailer', tool: 'PHPMailer', install: 'apt-get install php-cli libphp-phpmailer' },
  () =>
    printed('php', '-r', "require 'libphp-phpmailer/autoload.php'; new PHPMailer\\PHPMailer\\PHPMailer();") !== null,
);

/** PHP program that sends a message with Bcc. Arguments: port, encryption, key, subject. Reads the text from stdin. */
const PHP = `
require 'libphp-phpmailer/autoload.php';
[, $port, $secure, $key, $subject] = $argv;
$mail = new PHPMailer\\PHPMailer\\PHPMailer(true);
$mail->isSMTP();
[$mail->Host, $mail->Port, $mail->SMTPSecure] = ['127.0.0.1', (int) $port, $secure];
[$mail->SMTPAuth, $mail->Username, $mail->Password] = [true, 'php', $key];
$mail->SMTPOptions = ['ssl' => ['verify_peer' => false, 'verify_peer_name' => false, 'allow_self_signed' => true]];
[$mail->CharSet, $mail->Encoding] = ['utf-8', '8bit'];
$mail->setFrom('${FROM}', 'Shop');
$mail->addAddress('customer@one.example');
$mail->addBCC('hidden@three.example');
[$mail->Subject, $mail->Body] = [$subject, stream_get_contents(STDIN)];
$mail->addStringAttachment(str_repeat(implode(array_map('chr', range(0, 255))), 40), 'bytes.bin');
$mail->send();
echo $mail->getSMTPInstance()->getLastReply();
`;

/** Runs a program without blocking this process, in which the relay runs. Returns its output. */
async function output(program: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (written += text));
  child.stdin.end(input);
  await once(child, 'close');
  return written;
}

describe('mail programs and libraries that submit emails', () => {
  let relay: Relay;
  let server: PosthornServer;
  let sql: Sql;
  let key: string;

  beforeAll(async () => {
    relay = await startRelay();
    server = await startServer({
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      LOG_LEVEL: 'info',
      SMTP_TLS_CERT: path.join(TLS_FOLDER, 'localhost-cert.pem'),
      SMTP_TLS_KEY: path.join(TLS_FOLDER, 'localhost-key.pem'),
      SUBMISSIONS_PORT: '0',
    });
    sql = openSql(server);
    key = (await createKey(server, { scope: 'write' })).key;
    await verifyDomain(server, sql, HOST);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
  });

  const arrived = async (subject: string): Promise<Relayed> =>
    (
      await until(
        async () => relay.taken.filter(({ raw }) => raw.includes(`Subject: ${subject}\r\n`)),
        (found) => found.length > 0,
      )
    )[0] as Relayed;

  /** Returns the email with this subject once the email is delivered. */
  async function deliveredEmail(subject: string): ReturnType<typeof emailIn> {
    const list = expectStatus(await server.api('GET', '/v1/emails?limit=50'), 200).json.data as {
      id: string;
      subject: string;
    }[];
    const id = list.find((email) => email.subject === subject)?.id ?? '';
    return emailIn(server, id, 'delivered');
  }

  const modes = [
    ['STARTTLS', 'with STARTTLS'],
    ['TLS from the first byte', 'with TLS'],
  ] as const;

  describe.each(modes)('over %s', (_name, how) => {
    (hasMsmtp ? it.each(['plain', 'login']) : it.skip.each(['plain']))(
      'msmtp with AUTH %s: the text keeps its bytes, and Bcc stays out of them',
      async (mechanism) => {
        const subject = `msmtp ${mechanism} ${how}`;
        const head = [`From: Shop <${FROM}>`, 'To: customer@one.example', 'Bcc: hidden@three.example'];
        const message = [
          ...head,
          `Subject: ${subject}`,
          'MIME-Version: 1.0',
          'Content-Type: text/plain; charset=utf-8',
          'Content-Transfer-Encoding: 8bit',
          '',
          TEXT,
          '',
        ].join('\n');

        const said = await output(
          'msmtp',
          [
            ...['--host=127.0.0.1', `--port=${await submissionPortOf(server, how)}`, '--tls=on', '--tls-certcheck=off'],
            ...[`--tls-starttls=${how === 'with STARTTLS' ? 'on' : 'off'}`, `--auth=${mechanism}`, '--user=msmtp'],
            ...[`--passwordeval=echo ${key}`, '--remove-bcc-headers=off', '--read-envelope-from', '--read-recipients'],
          ],
          message,
        );

        expect(said).toBe('');
        const { raw, to } = await arrived(subject);
        expect(to.sort()).toEqual(['customer@one.example', 'hidden@three.example']);
        expect(raw).not.toContain('hidden@');
        expect(raw.slice(raw.indexOf('\r\n\r\n') + 4)).toBe(
          Buffer.from(`${TEXT}\n`.replaceAll('\n', '\r\n')).toString('latin1'),
        );
        expect(await deliveredEmail(subject)).toMatchObject({
          to: ['customer@one.example'],
          bcc: ['hidden@three.example'],
        });
      },
    );

    (hasPhpMailer ? it : it.skip)('PHPMailer: text, attachment and Bcc are those of the email', async () => {
      const subject = `PHPMailer ${how}`;
      const [port, secure] = [await submissionPortOf(server, how), how === 'with STARTTLS' ? 'tls' : 'ssl'];

      const said = await output('php', ['-r', PHP, '--', String(port), secure, key, subject], TEXT);

      expect(said).toMatch(/^221 |^250 2\.0\.0 evt_/);
      const { raw, to } = await arrived(subject);
      expect(to.sort()).toEqual(['customer@one.example', 'hidden@three.example']);
      expect(raw).not.toContain('hidden@');
      const email = await deliveredEmail(subject);
      expect(email).toMatchObject({
        from: `Shop <${FROM}>`,
        to: ['customer@one.example'],
        bcc: ['hidden@three.example'],
        attachments: [{ filename: 'bytes.bin', size_bytes: 10_240 }],
      });
      const content = expectStatus(await server.api('GET', `/v1/emails/${email.id}/content`), 200).json;
      expect(content.text.trimEnd()).toBe(TEXT);
    });

    (hasMsmtp ? it : it.skip)('msmtp with a wrong key gets 535, and nothing is accepted', async () => {
      const { length } = relay.taken;

      const said = await output(
        'msmtp',
        [
          ...['--host=127.0.0.1', `--port=${await submissionPortOf(server, how)}`, '--tls=on', '--tls-certcheck=off'],
          ...[`--tls-starttls=${how === 'with STARTTLS' ? 'on' : 'off'}`, '--auth=plain', '--user=msmtp'],
          ...['--passwordeval=echo wrong', `--from=${FROM}`, 'customer@one.example'],
        ],
        'Subject: wrong\n\nx\n',
      );

      expect(said).toMatch(/535 5\.7\.8/);
      expect(relay.taken).toHaveLength(length);
    });
  });
});
