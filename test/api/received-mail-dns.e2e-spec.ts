import { generateKeyPairSync } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { freePort } from '../durability/processes.js';
import { type PosthornServer, startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer, type ZoneTrouble } from '../support/zone-server.js';
import { expectRefusal } from './answers.js';
import { aliasTo, deliver, messageOf, messagesOf } from './mailing.js';
import { until } from './polling.js';
import { destinationAt, openSql, startTargets, type Targets, uuidOf, WITHIN_MS } from './scene.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;

let domains = 0;

/** Creates a unique domain with p=reject, a DKIM key, and an SPF record for another server. Returns its name. */
function domainIn(zone: ZoneServer): string {
  const domain = `d${(domains += 1)}.example`;
  zone.set(`_dmarc.${domain}`, 'TXT', ['v=DMARC1; p=reject']);
  zone.set(`s._domainkey.${domain}`, 'TXT', [KEY]);
  zone.set(domain, 'TXT', ['v=spf1 ip4:192.0.2.1 -all']);
  return domain;
}

/** Returns a message signed for the domain with nodemailer. */
async function signed(domain: string, subject: string): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message } = await transport.sendMail({
    from: `Ada <ada@${domain}>`,
    to: 'you@in.example',
    subject,
    text: 'Where is it?',
    dkim: { domainName: domain, keySelector: 's', privateKey: PEM },
  });
  return message as Buffer;
}

const deferred = async (server: PosthornServer): Promise<number> =>
  Number(
    /posthorn_inbox_messages_read_total\{outcome="deferred"\} (\d+)/.exec(
      await (await fetch(`${server.url}/metrics`)).text(),
    )?.[1] ?? 0,
  );

describe('received email while name servers fail', () => {
  let zone: ZoneServer;
  let targets: Targets;
  let server: PosthornServer;
  let smtp: number;

  beforeAll(async () => {
    [zone, targets, smtp] = await Promise.all([startZoneServer(), startTargets(), freePort()]);
    server = await startServer({ SMTP_PORT: String(smtp), DNS_SERVERS: zone.address, MAIL_DNS_RETRY: '1s' });
  });

  afterAll(async () => {
    await server?.stop();
    await targets?.close();
    await zone?.close();
  });

  it.each<[ZoneTrouble, string]>([
    ['fails', 'answers SERVFAIL'],
    ['cut', 'truncates over UDP and closes the connection over TCP'],
    ['silent', 'never answers'],
  ])(
    "delivers genuine email whose key's name server %s (%s), as temperror and not as fail (RFC 7489, section 6.6.2)",
    async (trouble) => {
      const target = targets.open();
      const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
      const domain = domainIn(zone);
      zone.trouble(`s._domainkey.${domain}`, trouble);
      await deliver(smtp, alias.address, await signed(domain, 'Genuine'), `ada@bounce.${domain}`);

      const [post] = await target.arrived(1);

      expect(JSON.parse(post?.rawBody.toString() ?? '')).toMatchObject({
        subject: 'Genuine',
        auth: 'none',
        reason: null,
        verdicts: { dkim: 'temperror', dmarc: 'temperror', dmarc_policy: 'reject' },
      });
      expect(await deferred(server)).toBeGreaterThan(0);
    },
  );

  it('quarantines it for an alias with allowedSenders; a manual release delivers it once, with its authentication results', async () => {
    const target = targets.open();
    const domain = domainIn(zone);
    const alias = await aliasTo(server, [await destinationAt(server, target.url)], { allowedSenders: [`@${domain}`] });
    zone.trouble(`s._domainkey.${domain}`, 'fails');
    await deliver(smtp, alias.address, await signed(domain, 'Genuine'), `ada@bounce.${domain}`);

    const [message] = await messagesOf(server, alias.id, 1);
    expect(message).toMatchObject({ auth: 'none', state: 'quarantined', reason: 'sender_unverified' });
    expect((await server.api('GET', `/v1/events?endpoint=${alias.id}&status=quarantined`)).json.data).toMatchObject([
      { id: message.id },
    ]);
    const release = () => server.api('POST', `/v1/aliases/${alias.id}/messages/${message.id}/release`);
    const [first, second] = await Promise.all([release(), release()]);

    expect([first.status, second.status].sort()).toEqual([200, 409]);
    expect([first, second].find(({ status }) => status === 200)?.json).toMatchObject({
      id: message.id,
      status: 'retrying',
      reason: null,
    });
    const [post] = await target.arrived(1);
    expect(JSON.parse(post?.rawBody.toString() ?? '')).toMatchObject({
      id: message.id,
      auth: 'none',
      verdicts: { dmarc: 'temperror' },
    });
    expect(
      await until(
        () => messageOf(server, alias.id, message.id),
        ({ status }) => status === 'delivered',
        WITHIN_MS,
      ),
    ).toMatchObject({ reason: null });
    expect((await server.api('GET', `/v1/events?endpoint=${alias.id}&status=quarantined`)).json.data).toEqual([]);
    expect((await server.api('GET', `/v1/events/${message.id}`)).json).toMatchObject({ status: 'delivered' });
    const refused = await release();
    expectRefusal(refused, 409);
    expect(refused.json.error.details).toEqual({ reason: 'not_quarantined' });
    expect(target.posts()).toHaveLength(1);
  });

  it('404 and 409: releases only quarantined messages, of this alias, with a destination', async () => {
    const domain = domainIn(zone);
    const [alias, other] = [await aliasTo(server, [], { allowedSenders: [`@${domain}`] }), await aliasTo(server, [])];
    zone.trouble(`s._domainkey.${domain}`, 'fails');
    await deliver(smtp, alias.address, await signed(domain, 'Genuine'), `ada@bounce.${domain}`);
    const [{ id }] = await messagesOf(server, alias.id, 1);

    const refused = await server.api('POST', `/v1/aliases/${alias.id}/messages/${id}/release`);
    expectRefusal(refused, 409);
    expect(refused.json.error.details).toEqual({ reason: 'no_destination' });
    expectRefusal(await server.api('POST', `/v1/aliases/${other.id}/messages/${id}/release`), 404);
    expect((await messagesOf(server, alias.id, 1))[0]).toMatchObject({ state: 'quarantined' });
  });

  it('does not wait if the DNS answer would change nothing, and delays no other email', async () => {
    const target = targets.open();
    const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
    const [silent, good] = [domainIn(zone), domainIn(zone)];
    zone.trouble(silent, 'silent');
    for (let n = 0; n < 10; n += 1)
      await deliver(smtp, alias.address, await signed(silent, `Silent ${n}`), `ada@bounce.${silent}`);
    await deliver(
      smtp,
      (await aliasTo(server, [await destinationAt(server, target.url)])).address,
      await signed(good, 'Good'),
      `ada@bounce.${good}`,
    );

    await until(
      async () => target.posts().map(({ rawBody }) => JSON.parse(rawBody.toString()).subject),
      (subjects) => subjects.includes('Good') && subjects.length === 11,
      2 * WITHIN_MS,
    );
  });
});

describe('received email whose name servers recover', () => {
  it('uses their later answer, also in a process that started meanwhile', async () => {
    const [zone, targets, smtp] = await Promise.all([startZoneServer(), startTargets(), freePort()]);
    const server = await startServer({ SMTP_PORT: String(smtp), DNS_SERVERS: zone.address, MAIL_DNS_RETRY: '1h' });
    const target = targets.open();
    const [genuine, forged] = [domainIn(zone), domainIn(zone)];
    try {
      const alias = await aliasTo(server, [await destinationAt(server, target.url)]);
      zone.trouble(`s._domainkey.${genuine}`, 'fails');
      zone.trouble(`s._domainkey.${forged}`, 'fails');
      await deliver(smtp, alias.address, await signed(genuine, 'Genuine'), `ada@bounce.${genuine}`);
      await deliver(
        smtp,
        alias.address,
        Buffer.from(
          (await signed(forged, 'Forged')).toString('latin1').replace('Subject: Forged', 'Subject: Forgery'),
          'latin1',
        ),
        `ada@bounce.${forged}`,
      );
      const sql = openSql(server);
      const waiting = async () =>
        sql.rows(
          'select id from inbox_messages where state = $1 and unanswered_since is not null and claimed_by is null',
          ['received'],
        );
      await until(waiting, (rows) => rows.length === 2, WITHIN_MS);
      await server.kill('SIGKILL');
      zone.trouble(`s._domainkey.${genuine}`, null);
      zone.trouble(`s._domainkey.${forged}`, null);
      const next = await startServer(server.env);
      try {
        const [post] = await target.arrived(1);
        const [forgery] = await until(
          async () => (await next.api('GET', `/v1/aliases/${alias.id}/messages?state=quarantined`)).json.data,
          (data) => data.length === 1,
          WITHIN_MS,
        );

        expect(JSON.parse(post?.rawBody.toString() ?? '')).toMatchObject({
          subject: 'Genuine',
          auth: 'pass',
          verdicts: { dkim: 'pass', dmarc: 'pass' },
        });
        expect(forgery).toMatchObject({ subject: 'Forgery', reason: 'dmarc_failed' });
        expect(await sql.rows('select tries from inbox_messages where id = $1', [uuidOf(forgery.id)])).toEqual([
          { tries: 1 },
        ]);
      } finally {
        await sql.close();
        await next.stop();
      }
    } finally {
      await server.stop();
      await targets.close();
      await zone.close();
    }
  });
});
