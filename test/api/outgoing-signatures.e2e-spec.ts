import { simpleParser } from 'mailparser';
import { freePort } from '../durability/processes.js';
import { dkimpyVerdicts, hasDkimpy, signatureVerdicts } from '../support/dkim-verifiers.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';
import { emailIn, rawOf } from './emailing.js';
import { deliver, letter } from './mailing.js';
import { until } from './polling.js';
import { type Relay, type Relayed, startRelay, verifyDomain } from './relay.js';
import { expectStatus, openSql, type Sql, uuidOf, WITHIN_MS } from './scene.js';
import { submissionPortOf, submit } from './submitting.js';

const PLATFORM = 'posthorn.example';
/** Domain without its own keys. The platform's key signs its mail. */
const HOST = 'mail.customer.example';
/** Domain with keys of its own, RSA and Ed25519. */
const OWN_HOST = 'own.customer.example';
const TEXT = '.\n..\nGrüße, 世界 \u{1f4e6}\n trailing \t \n';
const ONE = { dkim: ['pass'], arc: 'none' };
const TWO = { dkim: ['pass', 'pass'], arc: 'none' };

/** Signatures of every kind of message that the service sends, verified by dkimpy and mailauth after the transfer. */
(hasDkimpy() ? describe : describe.skip)('signatures of outgoing mail', () => {
  let server: PosthornServer;
  let relay: Relay;
  let zone: ZoneServer;
  let sql: Sql;
  let smtp: number;
  let made = 0;
  const records: Record<string, string> = {};

  beforeAll(async () => {
    [relay, zone, smtp] = await Promise.all([startRelay(), startZoneServer(), freePort()]);
    server = await startServer({
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: PLATFORM,
      SMTP_PORT: String(smtp),
      DNS_SERVERS: zone.address,
      LOG_LEVEL: 'info',
    });
    sql = openSql(server);
    await verifyDomain(server, sql, HOST, 'email');
    await sql.rows('update domains set receiving_enabled = true where host = $1', [HOST]);
    for (const row of await sql.rows<Record<string, string>>('select selector, public_key from dkim_keys'))
      for (const host of [HOST, PLATFORM])
        records[`${row['selector']}._domainkey.${host}`] = `v=DKIM1; k=rsa; p=${row['public_key']}`;
    for (const [name, text] of Object.entries(records)) zone.set(name, 'TXT', [text]);
    await verifyOwnDomain();
    const topic = { name: 'News', key: 'news', default_subscription: 'opt_in' };
    expectStatus(await server.api('POST', '/v1/topics', topic), 201);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
    await zone?.close();
  });

  async function verifyOwnDomain(): Promise<void> {
    const body = { domain: OWN_HOST, kind: 'email-send', dkim: { mode: 'domain', algorithm: 'rsa-2048+ed25519' } };
    const domain = expectStatus(await server.api('POST', '/v1/domains', body), 201).json;
    await publishAndVerify(domain);
  }

  async function publishAndVerify(domain: ApiAnswer['json']): Promise<void> {
    for (const { name, type, value, priority } of domain.records) {
      zone.set(name, type, [priority === null ? value : `${priority} ${value}`]);
      if (/\._domainkey\./.test(name)) records[name] = value;
    }
    await sql.rows('update domains set checked_at = null where id = $1', [uuidOf(domain.id)]);
    const verified = expectStatus(await server.api('POST', `/v1/domains/${domain.id}/verify`), 200).json;
    expect(verified.sending_enabled).toBe(true);
  }

  /** Rotates the keys of the domain and removes the records of its previous keys. */
  async function rotateOwnKeys(): Promise<void> {
    const domains = expectStatus(await server.api('GET', '/v1/domains'), 200).json.data as Record<string, string>[];
    const id = domains.find(({ domain }) => domain === OWN_HOST)?.['id'];
    const previous = Object.keys(records).filter((name) => name.endsWith(OWN_HOST));
    await publishAndVerify(
      expectStatus(await server.api('POST', `/v1/domains/${id}/dkim/rotate`, { grace_seconds: 0 }), 200).json,
    );
    for (const name of previous) {
      delete records[name];
      zone.set(name, 'TXT', []);
    }
  }

  const recipient = (): string => `r${(made += 1)}@target.example`;
  const arrived = async (to: string, count = 1): Promise<Relayed> =>
    (
      await until(
        async () => relay.taken.filter((mail) => mail.to.includes(to)),
        (all) => all.length >= count,
        WITHIN_MS,
      )
    )[count - 1] as Relayed;

  /** Sends an email through the API and returns the message that the next mail server receives. */
  async function sent(fields: object): Promise<string> {
    const to = recipient();
    const body = { from: `Shop <shop@${HOST}>`, to, subject: 'Größe', text: TEXT, ...fields };
    expectStatus(await server.api('POST', '/v1/emails', body), 202);
    return (await arrived(to)).raw;
  }

  const customAlias = async (settings: object): Promise<ApiAnswer['json']> => {
    const domains = expectStatus(await server.api('GET', '/v1/domains'), 200).json.data as Record<string, string>[];
    const domainId = domains.find(({ domain }) => domain === HOST)?.['id'];
    const body = { kind: 'custom', domainId, localPart: `box-${(made += 1)}`, ...settings };
    return expectStatus(await server.api('POST', '/v1/aliases', body), 201).json;
  };

  /** Creates an alias with a confirmed forward address. Returns the alias and the confirmation email. */
  async function forwarding(address: string): Promise<{ alias: ApiAnswer['json']; confirmation: string }> {
    const alias = await customAlias({ forward_to: [address] });
    const { raw } = await arrived(address);
    const [, token = ''] = /\/forwarding\?token=(\S+)/.exec((await simpleParser(raw)).text ?? '') ?? [];
    const body = new URLSearchParams({ token: decodeURIComponent(token), decision: 'confirm' });
    expect((await fetch(`${server.url}/forwarding`, { method: 'POST', body })).status).toBe(200);
    return { alias, confirmation: raw };
  }

  it.each<[string, object, object]>([
    ['a text', {}, ONE],
    [
      'HTML, files and a subject that is folded',
      {
        html: `<p>${'x'.repeat(2_000)}</p>`,
        subject: 'ü'.repeat(300),
        attachments: [{ filename: 'a.bin', content: Buffer.alloc(70_000, 7).toString('base64') }],
      },
      ONE,
    ],
    ['an unsubscribe link', { unsubscribe: { topic: 'news' } }, ONE],
    ['keys of the domain, RSA and Ed25519', { from: `shop@${OWN_HOST}` }, TWO],
    ['keys of the domain and an unsubscribe link', { from: `shop@${OWN_HOST}`, unsubscribe: true }, TWO],
  ])('an email with %s', async (_what, fields, expected) => {
    const raw = await sent(fields);

    expect(await signatureVerdicts(raw, records)).toEqual({ dkimpy: expected, mailauth: expected });
    const changed = await signatureVerdicts(raw.replace(/^Subject: /m, 'Subject: x'), records);
    expect(changed.dkimpy.dkim).not.toContain('pass');
    expect(changed.mailauth.dkim).not.toContain('pass');
  });

  it('each email of a batch', async () => {
    const to = [recipient(), recipient()];
    const emails = [HOST, OWN_HOST].map((host, index) => ({
      from: `a@${host}`,
      to: to[index],
      subject: 'x',
      text: TEXT,
    }));
    expectStatus(await server.api('POST', '/v1/emails/batch', emails), 202);

    for (const [index, expected] of [ONE, TWO].entries()) {
      const { raw } = await arrived(to[index] ?? '');
      expect(await signatureVerdicts(raw, records)).toEqual({ dkimpy: expected, mailauth: expected });
    }
  });

  it('an email from a template', async () => {
    const content = { subject: 'Order {{n}}', html: '<p>{{name}}</p>', text: `{{name}}\n${TEXT}` };
    const { id } = expectStatus(await server.api('POST', '/v1/templates', { name: 'Order', ...content }), 201).json;
    expectStatus(await server.api('POST', `/v1/templates/${id}/publish`), 200);
    const to = recipient();

    const body = { from: `a@${OWN_HOST}`, to, template: { id, variables: { n: '7', name: 'Zoë & 山田' } } };
    expectStatus(await server.api('POST', '/v1/emails', body), 202);

    expect(await signatureVerdicts((await arrived(to)).raw, records)).toEqual({ dkimpy: TWO, mailauth: TWO });
  });

  it.each<[string, string, string[], object]>([
    ["the platform's key", HOST, [], ONE],
    ['keys of the domain', OWN_HOST, ['X-Unsubscribe-Topic: news'], TWO],
  ])('a submitted email, with %s', async (_what, host, fields, expected) => {
    const to = recipient();
    const head = [`From: a@${host}`, `To: ${to}`, 'Subject: x', 'X-Odd:   spaces\tand\r\n\tfolding  ', ...fields];
    const message = Buffer.from([...head, '', TEXT.replaceAll('\n', '\r\n')].join('\r\n')).toString('latin1');
    const port = await submissionPortOf(server, 'without STARTTLS');

    expect(await submit(port, server.apiKey, to, message, `a@${host}`)).toMatch(/^250 /);

    expect(await signatureVerdicts((await arrived(to)).raw, records)).toEqual({ dkimpy: expected, mailauth: expected });
  });

  it('a confirmation mail, a forwarded message, and one that is forwarded again: both sets of ARC are sealed', async () => {
    const [first, second] = [recipient(), recipient()];
    const once = await forwarding(first);
    const twice = await forwarding(second);
    expect(await signatureVerdicts(once.confirmation, records)).toEqual({ dkimpy: ONE, mailauth: ONE });
    const original = await sent({ from: `a@${OWN_HOST}` });

    await deliver(smtp, once.alias.address, Buffer.from(original, 'latin1'), `a@${OWN_HOST}`);
    const forwarded = await arrived(first, 2);
    await deliver(smtp, twice.alias.address, Buffer.from(forwarded.raw, 'latin1'), forwarded.from);
    const again = await arrived(second, 2);

    const sealed = { ...TWO, arc: 'pass' };
    for (const { raw } of [forwarded, again])
      expect(await signatureVerdicts(raw, records)).toEqual({ dkimpy: sealed, mailauth: sealed });
    expect([...again.raw.matchAll(/^ARC-Seal: i=(\d)/gm)].map(([, instance]) => instance)).toEqual(['2', '1']);
    const changed = await signatureVerdicts(again.raw.replace(/^Subject: /m, 'Subject: x'), records);
    expect([changed.dkimpy.arc, changed.mailauth.arc]).toEqual(['fail', 'fail']);
  });

  it('an automatic reply', async () => {
    const alias = await customAlias({ auto_reply: { subject: 'We got it', text: TEXT, once_per: 'P7D' } });
    const sender = `asks-${(made += 1)}@b.example`;

    await deliver(smtp, alias.address, letter('question').replace('you@in.example', alias.address), sender);

    expect(await signatureVerdicts((await arrived(sender)).raw, records)).toEqual({ dkimpy: ONE, mailauth: ONE });
  });

  it('an email that is replayed after its keys were rotated: the current keys sign it', async () => {
    relay.refuseMessages(() => ({ code: 554, text: '5.7.1 Refused' }));
    const to = [recipient(), recipient()] as const;
    const sinceMs = Date.now();
    const email = { from: `a@${OWN_HOST}`, to: to[0], subject: 'x', text: TEXT };
    const ids = [expectStatus(await server.api('POST', '/v1/emails', email), 202).json.id as string];
    const lines = [`From: a@${OWN_HOST}`, `To: ${to[1]}`, 'DKIM-Signature: v=1; d=client.example', '', 'x'];
    const port = await submissionPortOf(server, 'without STARTTLS');
    const reply = await submit(port, server.apiKey, to[1], lines.join('\r\n'), `a@${OWN_HOST}`);
    ids.push(/evt_\w+/.exec(reply)?.[0] ?? '');
    for (const id of ids) await emailIn(server, id, 'failed');
    const raws = await Promise.all(ids.map((id) => rawOf(server, id)));
    relay.refuseMessages(() => null);
    await rotateOwnKeys();
    await until(
      async () => Date.now() - sinceMs,
      (ageMs) => ageMs > 11_000,
      20_000,
    );

    for (const id of ids) expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);

    for (const [index, others] of [[], ['fail']].entries()) {
      // The signatures of the removed keys follow those of the current keys.
      const { raw } = await arrived(to[index] ?? '');
      const expected = { dkim: ['pass', 'pass', 'fail', 'fail', ...others], arc: 'none' };
      expect(dkimpyVerdicts(raw, records)).toEqual(expected);
      expect(raw.endsWith(raws[index] ?? '-')).toBe(true);
    }
  });
});
