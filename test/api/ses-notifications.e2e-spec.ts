import { execFileSync } from 'node:child_process';
import { createPrivateKey, createSign, type KeyObject, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import https from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type NameServer, startNameServer } from '../support/name-server.js';
import { hasTool, mayListenOn, printed } from '../support/optional-tools.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { expectRefusal } from './answers.js';
import { emailIn, emailOf, sendEmail } from './emailing.js';
import { until } from './polling.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql, uuidOf, WITHIN_MS } from './scene.js';

const HOST = 'sns.eu-west-1.amazonaws.com';
/** Unused loopback address for the certificate server, because certificates are fetched only from port 443. */
const SNS_ADDRESS = '127.83.69.83';
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:mail';
const CERTIFICATE_PATH = '/SimpleNotificationService-0000.pem';
const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;

const mayListen = hasTool(
  {
    skipped: 'the tests of SES notifications',
    tool: 'openssl, and right to listen on port 443',
    install: 'apt-get install openssl, and run the tests as root',
  },
  () => printed('openssl', 'version') !== null && mayListenOn(443, SNS_ADDRESS),
);

(mayListen ? describe : describe.skip)('notifications of Amazon SES', () => {
  let directory: string;
  let key: KeyObject;
  let sns: https.Server;
  let names: NameServer;
  let relay: Relay;
  let server: PosthornServer;
  let sql: Sql;
  const asked: string[] = [];
  let isAway = false;

  beforeAll(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'posthorn-sns-'));
    const file = (name: string): string => path.join(directory, name);
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '30',
        '-subj',
        `/CN=${HOST}`,
        '-addext',
        `subjectAltName=DNS:${HOST}`,
        '-keyout',
        file('key.pem'),
        '-out',
        file('cert.pem'),
      ],
      { stdio: 'ignore' },
    );
    key = createPrivateKey(readFileSync(file('key.pem')));
    const certificate = readFileSync(file('cert.pem'));
    sns = https.createServer({ key: readFileSync(file('key.pem')), cert: certificate }, (request, response) => {
      asked.push(request.url ?? '');
      if (isAway) response.writeHead(503).end();
      else response.end(request.url === CERTIFICATE_PATH ? certificate : '<ConfirmSubscriptionResponse/>');
    });
    await new Promise<void>((resolve, reject) => void sns.once('error', reject).listen(443, SNS_ADDRESS, resolve));
    names = await startNameServer((name) => (name === HOST ? { addresses: [SNS_ADDRESS] } : 'absent'));
    relay = await startRelay();
    server = await startServer({
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      SES_TOPICS: TOPIC,
      DNS_SERVERS: names.address,
      NODE_EXTRA_CA_CERTS: file('cert.pem'),
    });
    sql = openSql(server);
    await verifyDomain(server, sql, 'mail.example.com');
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
    await names?.close();
    await new Promise((resolve) => sns.close(resolve));
    rmSync(directory, { recursive: true, force: true });
  });

  function signed(fields: Record<string, string>): Record<string, string> {
    const message: Record<string, string> = {
      Type: 'Notification',
      MessageId: randomUUID(),
      TopicArn: TOPIC,
      Timestamp: new Date().toISOString(),
      SignatureVersion: '2',
      SigningCertURL: `https://${HOST}${CERTIFICATE_PATH}`,
      ...fields,
    };
    const signer = createSign('RSA-SHA256');
    for (const name of SIGNED[message['Type'] as keyof typeof SIGNED])
      if (message[name] !== undefined) signer.update(`${name}\n${message[name]}\n`);
    return { ...message, Signature: signer.sign(key).toString('base64') };
  }

  /** Posts a notification as SNS does, without an API key. Returns the response. */
  const post = (message: object): Promise<ApiAnswer> =>
    server.api('POST', '/v1/providers/ses/notifications', JSON.stringify(message), {
      authorization: '',
      'content-type': 'text/plain; charset=UTF-8',
      'x-amz-sns-message-type': 'Notification',
    });
  const postNotification = async (notification: object): Promise<void> =>
    void expectStatus(await post(signed({ Message: JSON.stringify(notification) })), 204);
  const mailOf = (id: string, more: object = {}) => ({
    messageId: `ses-${id}`,
    source: 'shop@mail.example.com',
    destination: [],
    tags: { posthorn_email: [id] },
    ...more,
  });
  const bounce = (address: string, bounceType = 'Permanent') => ({
    bounceType,
    bounceSubType: 'General',
    bouncedRecipients: [{ emailAddress: address, status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' }],
  });
  const settled = (id: string, count: number) =>
    until(
      () =>
        sql.rows<{ state: string; reason: string | null }>(
          'select state, reason from mail_reports where email_id = $1',
          [uuidOf(id)],
        ),
      (rows) => rows.length === count && rows.every(({ state }) => state !== 'waiting'),
      WITHIN_MS,
    );

  async function delivered(to: string | string[]): Promise<string> {
    const id = await sendEmail(server, { from: 'shop@mail.example.com', to, subject: 'by a provider' });
    await emailIn(server, id, 'delivered');
    return id;
  }

  it('duplicate notifications in any order: a bounce and its late delivery, twice each, give one bounce and one suppression', async () => {
    const id = await delivered('gone@ses.example');
    const notification = signed({
      Message: JSON.stringify({ eventType: 'Bounce', mail: mailOf(id), bounce: bounce('gone@ses.example') }),
    });

    expect([(await post(notification)).status, (await post(notification)).status]).toEqual([204, 204]);
    await postNotification({
      eventType: 'Delivery',
      mail: mailOf(id),
      delivery: { recipients: ['gone@ses.example'], smtpResponse: '250 2.0.0 OK' },
    });
    await postNotification({ eventType: 'Bounce', mail: mailOf(id), bounce: bounce('gone@ses.example') });
    await settled(id, 3);

    const email = await emailOf(server, id);
    expect([email.status, email.timeline.filter(({ type }: { type: string }) => type === 'bounced').length]).toEqual([
      'bounced',
      1,
    ]);
    expect(expectStatus(await server.api('GET', '/v1/suppressions/gone@ses.example'), 200).json).toMatchObject({
      origin: 'bounce',
      source_id: id,
    });
    expect(expectStatus(await server.api('GET', '/v1/reports?limit=1'), 200).json.data).toMatchObject([
      { source: 'ses', kind: 'bounce', state: 'recorded', email_id: id, recipient: TOPIC },
    ]);
  });

  it('notifications of the other format name the email by its SES id; a complaint suppresses the address', async () => {
    const id = await delivered(['angry@ses.example', 'calm@ses.example']);
    await sql.rows('update emails set provider_message_id = $2 where id = $1', [uuidOf(id), `0100-${id}`]);

    await postNotification({
      notificationType: 'Complaint',
      mail: { messageId: `0100-${id}`, source: 'shop@mail.example.com' },
      complaint: { complainedRecipients: [{ emailAddress: 'angry@ses.example' }], complaintFeedbackType: 'abuse' },
    });

    const email = await emailIn(server, id, 'complained');
    expect(email.recipients.map(({ status }: { status: string }) => status)).toEqual(['complained', 'delivered']);
    expect((await server.api('GET', '/v1/suppressions/angry@ses.example')).status).toBe(200);
  });

  it('a transient bounce suppresses no address, a delay is only reported, and unknown addresses are ignored', async () => {
    const id = await delivered('busy@ses.example');
    await postNotification({
      eventType: 'DeliveryDelay',
      mail: mailOf(id),
      deliveryDelay: { delayType: 'MailboxFull', delayedRecipients: [{ emailAddress: 'busy@ses.example' }] },
    });
    await postNotification({ eventType: 'Bounce', mail: mailOf(id), bounce: bounce('stranger@ses.example') });
    await settled(id, 2);

    const late = await emailOf(server, id);
    expect([late.status, late.timeline.at(-1).subtype]).toEqual(['delivered', 'delayed']);
    await postNotification({ eventType: 'Bounce', mail: mailOf(id), bounce: bounce('busy@ses.example', 'Transient') });
    await emailIn(server, id, 'bounced');
    for (const address of ['busy@ses.example', 'stranger@ses.example'])
      expect((await server.api('GET', `/v1/suppressions/${address}`)).status).toBe(404);
  });

  it('401: another key, a changed message, or an unlisted topic; nothing is stored, and for the topic nothing is fetched', async () => {
    const id = await delivered('safe@ses.example');
    const message = signed({
      Message: JSON.stringify({ eventType: 'Bounce', mail: mailOf(id), bounce: bounce('safe@ses.example') }),
    });
    const before = asked.length;

    expectRefusal(await post({ ...message, Message: `${message['Message']} ` }), 401);
    expectRefusal(await post({ ...message, Signature: 'AAAA' }), 401);
    expectRefusal(
      await post(
        signed({
          Message: message['Message'] ?? '',
          TopicArn: `${TOPIC}2`,
          SigningCertURL: `https://${HOST}/other.pem`,
        }),
      ),
      401,
    );
    expectRefusal(
      await post({ ...message, SigningCertURL: 'https://sns.eu-west-1.amazonaws.com.evil.example/cert.pem' }),
      401,
    );
    expectRefusal(await post({}), 401);

    expect(asked).toHaveLength(before);
    expect(await sql.rows('select 1 from mail_reports where email_id = $1', [uuidOf(id)])).toEqual([]);
    expect((await emailOf(server, id)).status).toBe('delivered');
  });

  it('401: signed more than a week ago, or in the future, because duplicates of it would not be detected', async () => {
    const id = await delivered('replayed@ses.example');
    const notification = JSON.stringify({
      eventType: 'Bounce',
      mail: mailOf(id),
      bounce: bounce('replayed@ses.example'),
    });
    const at = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

    for (const Timestamp of [at(-7.01), at(-400), at(1), 'soon', ''])
      expectRefusal(await post(signed({ Message: notification, Timestamp })), 401);

    expect(await sql.rows('select 1 from mail_reports where email_id = $1', [uuidOf(id)])).toEqual([]);
    expect((await post(signed({ Message: notification, Timestamp: at(-6.9) }))).status).toBe(204);
    await settled(id, 1);
  });

  it('a subscription of a listed topic is confirmed through the egress gate; 503 while SNS is unavailable, and SNS repeats the request', async () => {
    const SubscribeURL = `https://${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336`;
    const confirmation = signed({
      Type: 'SubscriptionConfirmation',
      Message: 'You have chosen to subscribe',
      Token: '2336',
      SubscribeURL,
    });

    isAway = true;
    const away = await post(confirmation);
    isAway = false;

    expectRefusal(away, 503);
    expect((await post(confirmation)).status).toBe(204);
    expect(asked.filter((url) => url.includes('Token=2336'))).toHaveLength(2);
    expectRefusal(
      await post(
        signed({
          Type: 'SubscriptionConfirmation',
          Message: 'x',
          Token: '1',
          SubscribeURL: 'https://evil.example/?Action=ConfirmSubscription',
        }),
      ),
      400,
    );
  });

  it('a notification that arrives before the SES id is stored takes effect once it is stored', async () => {
    const id = await delivered('early@ses.example');
    await postNotification({
      notificationType: 'Bounce',
      mail: { messageId: `0200-${id}`, source: 'shop@mail.example.com' },
      bounce: bounce('early@ses.example'),
    });
    await until(
      () => sql.rows('select 1 from mail_reports where failures > 0'),
      (rows) => rows.length > 0,
      WITHIN_MS,
    );

    await sql.rows('update emails set provider_message_id = $2 where id = $1', [uuidOf(id), `0200-${id}`]);
    await sql.rows(`update mail_reports set due_at = now() where state = 'waiting'`);

    await emailIn(server, id, 'bounced');
  });

  it('a notification that matches no email of Posthorn is stored for the operator', async () => {
    await postNotification({
      notificationType: 'Bounce',
      mail: { messageId: 'of-somebody-else', source: 'x@y.example' },
      bounce: bounce('x@z.example'),
    });

    const found = await until(
      async () => {
        // The service retries the report several times, because a notification can arrive early. The test changes the
        // stored due time instead of waiting.
        await sql.rows(`update mail_reports set due_at = now() where state = 'waiting'`);
        return sql.rows(
          `select state, reason, failures from mail_reports where source = 'ses' and environment_id is null and state <> 'waiting'`,
        );
      },
      (rows) => rows.length > 0,
      WITHIN_MS,
    );
    expect(found).toEqual([{ state: 'unmatched', reason: 'email_unknown', failures: 3 }]);
  });
});
