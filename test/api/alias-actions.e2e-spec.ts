import { generateKeyPairSync } from 'node:crypto';
import { simpleParser } from 'mailparser';
import { createTransport } from 'nodemailer';
import { freePort } from '../durability/processes.js';
import { dkimpyVerdicts, hasDkimpy, mailauthVerdicts, type SignatureVerdicts } from '../support/dkim-verifiers.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { startZoneServer, type ZoneServer } from '../support/zone-server.js';
import { as, createKey, expectInvalid, expectRefusal } from './answers.js';
import { emailOf, sendEmail } from './emailing.js';
import { aliasTo, deliver, letter, messageOf, messagesOf } from './mailing.js';
import { until } from './polling.js';
import { type Relay, type Relayed, startRelay, verifyDomain } from './relay.js';
import { deliveryReport } from './reporting.js';
import { destinationAt, expectStatus, openSql, type Sql, startTargets, type Targets, WITHIN_MS } from './scene.js';

const HOST = 'in.customer.example';
const SENDER_HOST = 'signed.example';
const HAS_DKIMPY = hasDkimpy();

/** Forwarding, automatic replies, signed links and reply links, over real SMTP in both directions. */
describe('actions of an alias', () => {
  let server: PosthornServer;
  let relay: Relay;
  let zone: ZoneServer;
  let targets: Targets;
  let sql: Sql;
  let smtp: number;
  let domainId: string;
  let made = 0;
  const keys: Record<string, string> = {};
  const signing = generateKeyPairSync('rsa', { modulusLength: 2048 });

  beforeAll(async () => {
    [relay, zone, smtp, targets] = await Promise.all([startRelay(), startZoneServer(), freePort(), startTargets()]);
    server = await startServer({
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      SMTP_PORT: String(smtp),
      DNS_SERVERS: zone.address,
    });
    sql = openSql(server);
    await verifyDomain(server, sql, HOST, 'email');
    const [domain] = await sql.rows('update domains set receiving_enabled = true where host = $1 returning id', [HOST]);
    const listed = expectStatus(await server.api('GET', '/v1/domains'), 200).json.data;
    domainId = listed.find((each: { domain: string }) => each.domain === HOST).id;
    expect(domain).toBeDefined();
    publish('s1', SENDER_HOST, signing.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'));
    for (const { selector, public_key: publicKey } of await sql.rows('select selector, public_key from dkim_keys'))
      for (const host of [HOST, 'posthorn.example']) publish(String(selector), host, String(publicKey));
    zone.set(`_dmarc.${SENDER_HOST}`, 'TXT', ['v=DMARC1; p=reject']);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
    await zone?.close();
    await targets?.close();
  });

  beforeEach(() => {
    relay.refuseMessages(() => null);
    relay.refuseRecipients(() => null);
  });

  function publish(selector: string, host: string, key: string): void {
    const [name, text] = [`${selector}._domainkey.${host}`, `v=DKIM1; k=rsa; p=${key}`];
    keys[name] = text;
    zone.set(name, 'TXT', [text]);
  }

  const to = (address: string): Relayed[] => relay.taken.filter((mail) => mail.to.includes(address));
  const arrived = (address: string, count = 1): Promise<Relayed[]> =>
    until(
      async () => to(address),
      (all) => all.length >= count,
      WITHIN_MS,
    );
  const customAlias = async (settings: object, localPart = `box-${(made += 1)}`): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('POST', '/v1/aliases', { kind: 'custom', domainId, localPart, ...settings }), 201)
      .json;

  /** Returns the path of the confirmation page, from the link in the confirmation mail. */
  const confirmationOf = async (address: string): Promise<string> => {
    const [mail] = await arrived(address);
    const { text } = await simpleParser(mail?.raw ?? '');
    const [url] = /http\S+\/forwarding\?token=\S+/.exec(text ?? '') ?? [];
    const { pathname, search } = new URL(url ?? '');
    return `${pathname}${search}`;
  };
  const decide = async (page: string, decision: string): Promise<Response> => {
    const token = new URLSearchParams(page.slice(page.indexOf('?'))).get('token') ?? '';
    return fetch(`${server.url}/forwarding`, { method: 'POST', body: new URLSearchParams({ token, decision }) });
  };
  const forwarding = async (address: string, settings: object = {}): Promise<ApiAnswer['json']> => {
    const alias = await customAlias({ forward_to: [address], ...settings });
    expect((await decide(await confirmationOf(address), 'confirm')).status).toBe(200);
    return alias;
  };
  const lastMessage = async (alias: string, count = 1): Promise<ApiAnswer['json']> => {
    const [{ id }] = await messagesOf(server, alias, count);
    return messageOf(server, alias, id);
  };
  const forwarded = (alias: string, id: string, status: string): Promise<ApiAnswer['json']> =>
    until(
      () => messageOf(server, alias, id),
      ({ forwards }) => forwards[0]?.status === status,
      WITHIN_MS,
    );
  const signedLetter = async (address: string, subject: string, bytes = 3_000): Promise<string> => {
    const compose = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const privateKey = signing.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const { message } = await compose.sendMail({
      from: `Ada <ada@${SENDER_HOST}>`,
      to: address,
      subject,
      text: 'Größe\n.\nFrom here on\n',
      attachments: [{ filename: 'order.pdf', content: Buffer.alloc(bytes, 7) }],
      dkim: { domainName: SENDER_HOST, keySelector: 's1', privateKey },
    });
    return (message as Buffer).toString('latin1');
  };
  const verified = (raw: string): Promise<SignatureVerdicts> => mailauthVerdicts(raw, keys);

  describe('forwarding', () => {
    it('waits for the owner of the address, who opens the page and confirms with a form', async () => {
      const alias = await customAlias({ forward_to: ['Owner@Target.example'] });
      const page = await confirmationOf('owner@target.example');
      await deliver(smtp, alias.address, letter('too-early'));
      const early = await lastMessage(alias.id);

      const opened = await fetch(`${server.url}${page}`);
      const before = expectStatus(await server.api('GET', `/v1/aliases/${alias.id}`), 200).json;
      const confirmed = await decide(page, 'confirm');
      const after = expectStatus(await server.api('GET', `/v1/aliases/${alias.id}`), 200).json;
      await deliver(smtp, alias.address, letter('in-time'));
      const [, mail] = await arrived('owner@target.example', 2);

      expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('owner@target.example')]);
      expect(alias.forward_addresses).toEqual([{ address: 'owner@target.example', status: 'pending' }]);
      expect(before.forward_addresses).toEqual(alias.forward_addresses);
      expect([confirmed.status, after.forward_addresses]).toEqual([
        200,
        [{ address: 'owner@target.example', status: 'confirmed' }],
      ]);
      expect(early.forwards).toEqual([
        { address: 'owner@target.example', status: 'pending', detail: expect.any(String), email_id: null },
      ]);
      expect(mail?.raw).toContain('Subject: in-time');
      const emails = expectStatus(await server.api('GET', '/v1/emails?recipient=owner@target.example'), 200).json.data;
      expect(emails).toHaveLength(1);
    });

    it('a mail server that does not answer delays only its own confirmation mail, whose lease covers the wait', async () => {
      const addresses = ['held-1', 'held-2', 'held-3'].map((name) => `${name}@target.example`);
      let answer = (): void => undefined;
      const answers = new Promise<void>((resolve) => (answer = resolve));
      relay.holdAnswers((to) => (to[0]?.startsWith('held-') ? answers : null));

      await customAlias({ forward_to: addresses });

      try {
        await Promise.all(addresses.map((address) => arrived(address)));
        const held = await sql.rows<{ seconds: number }>(
          `select extract(epoch from send_at - now())::float8 as seconds from forward_addresses where address like 'held-%'`,
        );
        // The lease on a confirmation mail ends at `send_at`. It must last longer than an SMTP session, which can take
        // 20 minutes.
        for (const { seconds } of held) expect(seconds).toBeGreaterThan(20 * 60);
        expect(held).toHaveLength(3);
      } finally {
        relay.holdAnswers(() => null);
        answer();
      }
    });

    it('keeps every byte, so that DKIM stays valid, with SRS and an ARC set that two verifiers accept', async () => {
      const alias = await forwarding('bytes@target.example');
      const original = await signedLetter(alias.address, 'bytes');
      await deliver(smtp, alias.address, Buffer.from(original, 'latin1'), `ada+1@${SENDER_HOST}`);

      const mail = (await arrived('bytes@target.example', 2))[1] as Relayed;

      const [{ id }] = await messagesOf(server, alias.id, 1);
      const shown = await forwarded(alias.id, id, 'delivered');
      const stored = expectStatus(await server.api('GET', `/v1/aliases/${alias.id}/messages/${id}/raw`), 200).text;
      const top = mail.raw.slice(0, -stored.length);
      expect(mail.raw.slice(top.length)).toBe(Buffer.from(stored).toString('latin1'));
      expect(top).toMatch(
        /^X-Posthorn-Forwarded: al_\w+;\r\n b\+r[a-z2-7]{56}@bounce\.posthorn\.example\r\nReceived: from mail\.b\.example /,
      );
      expect(mail.from).toMatch(
        new RegExp(`^SRS0=[a-z2-7]{8}=[a-z2-7]{2}=${SENDER_HOST}=ada\\+1@bounce\\.posthorn\\.example$`),
      );
      expect(shown.verdicts).toMatchObject({ dkim: 'pass', dmarc: 'pass', arc: 'none' });
      expect(await verified(mail.raw)).toEqual({ dkim: ['pass'], arc: 'pass' });
      if (HAS_DKIMPY) expect(dkimpyVerdicts(mail.raw, keys)).toEqual({ dkim: ['pass'], arc: 'pass' });
      expect(mail.raw).toMatch(
        /ARC-Authentication-Results: i=1; [^]*dkim=pass header\.d=signed\.example;\s+dmarc=pass header\.from=signed\.example/,
      );
      expect(shown.forwards).toEqual([
        {
          address: 'bytes@target.example',
          status: 'delivered',
          detail: expect.stringMatching(/^250/),
          email_id: expect.stringMatching(/^evt_/),
        },
      ]);
      expect(await emailOf(server, shown.forwards[0].email_id)).toMatchObject({
        to: ['bytes@target.example'],
        tags: [{ name: 'forwarded_message', value: id }],
      });
      // Shows that the verification of the ARC seal fails for a changed message.
      const changed = await verified(mail.raw.replace('From here', 'From there'));
      expect(changed.arc).toBe('fail');
      expect(changed.dkim).not.toContain('pass');
    });

    it('a message of several megabytes, whose bytes are stored apart from its row', async () => {
      const alias = await forwarding('large@target.example');

      await deliver(smtp, alias.address, Buffer.from(await signedLetter(alias.address, 'big', 3_000_000), 'latin1'));

      const mail = (await arrived('large@target.example', 2))[1] as Relayed;
      expect(mail.raw.length).toBeGreaterThan(4_000_000);
      expect(await verified(mail.raw)).toEqual({ dkim: ['pass'], arc: 'pass' });
    });

    it('an ARC chain of an earlier server is continued', async () => {
      const [first, second] = [await forwarding('once@target.example'), await forwarding('twice@target.example')];
      await deliver(smtp, first.address, Buffer.from(await signedLetter(first.address, 'chain'), 'latin1'));
      const once = (await arrived('once@target.example', 2))[1] as Relayed;

      await deliver(smtp, second.address, Buffer.from(once.raw, 'latin1'), once.from);

      const twice = (await arrived('twice@target.example', 2))[1] as Relayed;
      expect(twice.raw).toMatch(/ARC-Seal: i=2;[^]*cv=pass/);
      expect(await verified(twice.raw)).toEqual({ dkim: ['pass'], arc: 'pass' });
      if (HAS_DKIMPY) expect(dkimpyVerdicts(twice.raw, keys)).toEqual({ dkim: ['pass'], arc: 'pass' });
    });

    it('a bounce is recorded, suppresses the address, and reaches nobody', async () => {
      const alias = await forwarding('gone@target.example');
      await deliver(smtp, alias.address, letter('bounces'), 'ada@b.example');
      const mail = (await arrived('gone@target.example', 2))[1] as Relayed;
      const { length } = relay.taken;
      const returned = mail.raw.slice(0, mail.raw.indexOf('\r\n\r\n'));

      await deliver(smtp, mail.from, deliveryReport({ recipient: 'gone@target.example', returned }), '');

      const [{ id }] = await messagesOf(server, alias.id, 1);
      expect((await forwarded(alias.id, id, 'bounced')).forwards[0].detail).toContain('User unknown');
      await deliver(smtp, alias.address, letter('after-the-bounce'));
      const [next] = await messagesOf(server, alias.id, 2);
      await forwarded(alias.id, next.id, 'suppressed');
      expect(relay.taken).toHaveLength(length);
    });

    it("neither counts for the author's domain nor waits while that domain is paused", async () => {
      const host = 'author.example';
      await verifyDomain(server, sql, host);
      const domains = expectStatus(await server.api('GET', '/v1/domains'), 200).json.data;
      const { id } = domains.find((each: { domain: string }) => each.domain === host);
      const thresholds = { minimum_sent: 1, bounce_rate_pause: 0.5 };
      expectStatus(await server.api('PATCH', `/v1/domains/${id}`, { thresholds }), 200);
      const reputationOf = async (): Promise<ApiAnswer['json']> =>
        expectStatus(await server.api('GET', `/v1/domains/${id}/reputation`), 200).json;
      const alias = await forwarding('author@target.example');
      const byAuthor = (subject: string): string => letter(subject).replaceAll('ada@b.example', `ada@${host}`);
      await deliver(smtp, alias.address, byAuthor('before-the-pause'));
      const [{ id: messageId }] = await messagesOf(server, alias.id, 1);
      await forwarded(alias.id, messageId, 'delivered');
      relay.refuseRecipients((address) =>
        address === 'gone@own.example' ? { code: 550, text: '5.1.1 No such user' } : null,
      );
      await sendEmail(server, { from: `shop@${host}`, to: 'gone@own.example' });
      const paused = await until(reputationOf, ({ reputation }) => reputation === 'paused', WITHIN_MS);

      await deliver(smtp, alias.address, byAuthor('during-the-pause'));

      expect(paused.last_24_hours).toMatchObject({ sent: 1, delivered: 0, bounced: 1 });
      expect((await arrived('author@target.example', 3))[2]?.raw).toContain('Subject: during-the-pause');
      expect((await reputationOf()).reputation).toBe('paused');
    });

    it('550: a forged SRS address, and one without its sender', async () => {
      await expect(
        deliver(smtp, 'SRS0=aaaaaaaa=aa=b.example=ada@bounce.posthorn.example', letter('forged')),
      ).rejects.toThrow('550 5.7.1');
    });

    it('the null sender stays, a loop ends, quarantined mail stays, and a refusal of the next server is shown', async () => {
      const alias = await forwarding('cases@target.example');
      const stamp = `X-Posthorn-Forwarded: ${alias.id};\r\n b+rx@bounce.other.example\r\n`;
      await deliver(smtp, alias.address, letter('null-sender'), '');
      await arrived('cases@target.example', 2);
      await deliver(smtp, alias.address, letter('loop', stamp));
      await deliver(smtp, alias.address, letter('forged').replaceAll('ada@b.example', `ada@${SENDER_HOST}`));
      await messagesOf(server, alias.id, 3);
      relay.refuseMessages(() => ({ code: 552, text: '5.3.4 Message too large for the next server' }));
      await deliver(smtp, alias.address, letter('large'));

      const listed = await messagesOf(server, alias.id, 4);

      const [large, quarantined, loop, plain] = await Promise.all(
        listed.map(({ id }) => messageOf(server, alias.id, id)),
      );
      await forwarded(alias.id, plain.id, 'delivered');
      expect(to('cases@target.example')[1]?.from).toBe('');
      expect(loop.forwards).toMatchObject([{ status: 'skipped', detail: expect.stringContaining('loop') }]);
      expect([quarantined.status, quarantined.forwards]).toMatchObject(['quarantined', [{ status: 'skipped' }]]);
      expect((await forwarded(alias.id, large.id, 'failed')).forwards[0].detail).toContain('too large');
      expect(to('cases@target.example')).toHaveLength(2);
    });

    it('the owner can refuse at any time, and is not asked again', async () => {
      const alias = await customAlias({ forward_to: ['no@target.example'] });
      const page = await confirmationOf('no@target.example');
      await decide(page, 'confirm');

      expect(await (await decide(page, 'refuse')).text()).toContain('You refused it');

      await deliver(smtp, alias.address, letter('refused'));
      expect((await lastMessage(alias.id)).forwards).toMatchObject([
        { status: 'skipped', detail: expect.stringContaining('refused') },
      ]);
      expect((await decide(page, 'confirm')).status).toBe(409);
      expectInvalid(
        await server.api('PATCH', `/v1/aliases/${alias.id}`, { forward_to: ['no@target.example'] }),
        'schema',
        'forward_to.0',
      );
      expect(to('no@target.example')).toHaveLength(1);
    });

    it('a link opens only for its own address, and a form from another site is refused', async () => {
      await customAlias({ forward_to: ['strict@target.example'] });
      const page = await confirmationOf('strict@target.example');

      expect((await fetch(`${server.url}${page}x`)).status).toBe(404);
      expect((await fetch(`${server.url}/forwarding`)).status).toBe(404);
      expect((await decide(page, 'maybe')).status).toBe(400);
      const token = new URLSearchParams(page.slice(page.indexOf('?'))).get('token') ?? '';
      const foreign = await fetch(`${server.url}/forwarding`, {
        method: 'POST',
        body: new URLSearchParams({ token, decision: 'confirm' }),
        headers: { origin: 'https://evil.example' },
      });
      expect(foreign.status).toBe(403);
    });

    it('a test environment sends nothing out, so its addresses count as confirmed', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const body = { kind: 'platform', localPart: 'tested', forward_to: ['tested@target.example'] };
      const alias = expectStatus(await server.api('POST', '/v1/aliases', body, as(key)), 201).json;

      await deliver(smtp, alias.address, letter('tested'));

      const path = `/v1/aliases/${alias.id}/messages`;
      const [{ id }] = await until(
        async () => (await server.api('GET', path, undefined, as(key))).json.data as ApiAnswer['json'][],
        (all) => all.some(({ state }) => state === 'processed'),
        WITHIN_MS,
      );
      await until(
        async () => (await server.api('GET', `${path}/${id}`, undefined, as(key))).json,
        ({ forwards }) => forwards[0]?.status === 'delivered',
        WITHIN_MS,
      );
      expect(alias.forward_addresses).toEqual([{ address: 'tested@target.example', status: 'confirmed' }]);
      expect(to('tested@target.example')).toEqual([]);
    });

    it('409: a test environment adds at most 100 addresses in a day', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const body = { kind: 'platform', localPart: 'many' };
      const { id } = expectStatus(await server.api('POST', '/v1/aliases', body, as(key)), 201).json;
      const replace = (round: number): Promise<ApiAnswer> => {
        const addresses = Array.from({ length: 5 }, (_, i) => `a${round}-${i}@target.example`);
        return server.api('PATCH', `/v1/aliases/${id}`, { forward_to: addresses }, as(key));
      };
      const [{ count }] = (await sql.rows<{ count: number }>(
        `select count(*)::int as count from forward_addresses where state = 'confirmed' and decided_at is null`,
      )) as [{ count: number }];
      const rounds = Math.floor((100 - count) / 5);
      for (let round = 0; round < rounds; round += 1) expectStatus(await replace(round), 200);

      const refused = await replace(rounds);

      expectRefusal(refused, 409);
      expect(refused.json.error.details).toEqual({ limit: 100 });
      expectStatus(await replace(0), 200);
      await sql.rows(`update forward_addresses set requested_at = now() - interval '25 hours' where address like 'a%'`);
      expectStatus(await replace(rounds), 200);
    });
  });

  describe('automatic replies', () => {
    const REPLY = { subject: 'We got it', text: 'Thank you.', from_name: 'Help', once_per: 'P7D' };

    it('a sender gets one signed reply per period, in the thread of the message', async () => {
      const alias = await customAlias({ auto_reply: REPLY });
      const mail = (subject: string) =>
        letter(subject, 'References: <0@b.example>\r\n').replace('you@in.example', alias.address);
      await deliver(smtp, alias.address, mail('first'), 'once@b.example');
      const [reply] = (await arrived('once@b.example')) as [Relayed];
      await deliver(smtp, alias.address, mail('second'), 'once@b.example');
      const [second, first] = await Promise.all(
        (await messagesOf(server, alias.id, 2)).map(({ id }) => messageOf(server, alias.id, id)),
      );

      const parsed = await simpleParser(reply.raw);
      expect(parsed.headers.get('auto-submitted')).toBe('auto-replied');
      expect(parsed).toMatchObject({ subject: 'We got it', inReplyTo: '<first@b.example>' });
      expect(parsed.references).toEqual(['<0@b.example>', '<first@b.example>']);
      expect([parsed.from?.text, parsed.text?.trim()]).toEqual([`"Help" <${alias.address}>`, 'Thank you.']);
      expect(reply.from).toMatch(/^b\+r/);
      expect((await verified(reply.raw)).dkim).toEqual(['pass']);
      expect(first.auto_reply).toEqual({ email_id: expect.stringMatching(/^evt_/), detail: null });
      expect(second.auto_reply).toEqual({ email_id: null, detail: expect.stringContaining('period') });
      expect(to('once@b.example')).toHaveLength(1);
    });

    it('machines, lists, blind copies and forged senders get no reply, and neither does a reply', async () => {
      const alias = await customAlias({ auto_reply: REPLY });
      const mail = (subject: string, headers = '') => letter(subject, headers).replace('you@in.example', alias.address);
      await deliver(smtp, alias.address, mail('null'), '');
      await deliver(smtp, alias.address, mail('machine'), 'no-reply@b.example');
      await deliver(smtp, alias.address, mail('auto', 'Auto-Submitted: auto-replied\r\n'), 'a@b.example');
      await deliver(smtp, alias.address, mail('list', 'List-Id: <l.example>\r\n'), 'a@b.example');
      await deliver(smtp, alias.address, letter('blind'), 'a@b.example');

      const { length } = relay.taken;
      const listed = await messagesOf(server, alias.id, 5);

      const replies = await Promise.all(
        listed.map(async ({ id }) => (await messageOf(server, alias.id, id)).auto_reply),
      );
      expect(replies.map(({ email_id: id }: { email_id: null }) => id)).toEqual([null, null, null, null, null]);
      expect(relay.taken).toHaveLength(length);
    });

    it('an alias of a paused domain sends no reply, and queues none until the domain is resumed', async () => {
      const host = 'paused.customer.example';
      await verifyDomain(server, sql, host, 'email');
      await sql.rows(`update domains set receiving_enabled = true, reputation = 'paused' where host = $1`, [host]);
      const { data } = expectStatus(await server.api('GET', '/v1/domains'), 200).json;
      const { id } = data.find(({ domain }: { domain: string }) => domain === host);
      const alias = await customAlias({ domainId: id, auto_reply: REPLY });

      const mail = letter('paused').replace('you@in.example', alias.address);
      await deliver(smtp, alias.address, mail, 'paused@b.example');

      expect((await lastMessage(alias.id)).auto_reply).toEqual({
        email_id: null,
        detail: expect.stringContaining('paused'),
      });
      expect((await server.api('GET', '/v1/emails?recipient=paused@b.example')).json.data).toEqual([]);
    });

    it.each([
      [{ subject: '', text: 'x' }, 'auto_reply.subject'],
      [{ subject: 'a\r\nBcc: x@y.example', text: 'x' }, 'auto_reply.subject'],
      [{ subject: 'x' }, 'auto_reply.text'],
      [{ subject: 'x', text: ' ', html: '' }, 'auto_reply.text'],
      [{ subject: 'x', text: 'a\0' }, 'auto_reply.text'],
      [{ subject: 'x', html: 'a\ud800' }, 'auto_reply.html'],
      [{ subject: 'a\ud800', text: 'x' }, 'auto_reply.subject'],
      [{ subject: 'x', text: 'x', once_per: 'P1M' }, 'auto_reply.once_per'],
      [{ subject: 'x', text: 'x', once_per: 'PT1M' }, 'auto_reply.once_per'],
      [{ subject: 'x', text: 'x', from_name: 'a <b@c.example>' }, 'auto_reply.from_name'],
    ])('422: %j', async (autoReply, path) => {
      const body = { kind: 'platform', localPart: 'invalid', auto_reply: autoReply };
      expectInvalid(await server.api('POST', '/v1/aliases', body), 'schema', path);
    });
  });

  it.each([
    [['a@b.example, c@d.example'], 'forward_to.0'],
    [['Ops <a@b.example>'], 'forward_to.0'],
    [['a@b.example', 'a\r\n@b.example'], 'forward_to.1'],
    [['nonsense'], 'forward_to.0'],
    [Array.from({ length: 6 }, (_, i) => `a${i}@b.example`), 'forward_to'],
  ])('422: forward_to %j', async (forwardTo, path) => {
    const body = { kind: 'platform', localPart: 'invalid', forward_to: forwardTo };
    expectInvalid(await server.api('POST', '/v1/aliases', body), 'schema', path);
  });

  describe('signed links', () => {
    it('open the original and the attachments without a key, until they expire or the message is erased', async () => {
      const alias = await customAlias({});
      const original = await signedLetter(alias.address, 'linked');
      await deliver(smtp, alias.address, Buffer.from(original, 'latin1'));
      const { id } = await lastMessage(alias.id);
      const path = `/v1/aliases/${alias.id}/messages/${id}/links`;

      const links = expectStatus(await server.api('POST', path, { expires_in: 60 }), 200).json;

      const at = (url: string): string => `${server.url}${new URL(url).pathname}${new URL(url).search}`;
      const [raw, file] = await Promise.all([fetch(at(links.raw_url)), fetch(at(links.attachments[0].url))]);
      expect([raw.headers.get('content-type'), raw.headers.get('x-content-type-options')]).toEqual([
        'message/rfc822',
        'nosniff',
      ]);
      expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.alloc(3_000, 7))).toBe(true);
      expect(links.attachments).toMatchObject([{ index: 0, filename: 'order.pdf' }]);
      expect((await fetch(`${at(links.raw_url)}x`)).status).toBe(404);
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      expectRefusal(await server.api('POST', path, {}, as(key)), 404);
      for (const body of [{ expires_in: 59 }, { expires_in: 2_592_001 }, { expires_in: '60' }])
        expectInvalid(await server.api('POST', path, body), 'schema', 'expires_in');
      expectStatus(await server.api('DELETE', `/v1/events/${id}/payload`), 204);
      expect((await fetch(at(links.raw_url))).status).toBe(404);
      expectRefusal(await server.api('POST', path, {}), 404);
    });

    it('an alias with link_ttl_seconds puts them into its events', async () => {
      const target = targets.open();
      const destinationIds = [await destinationAt(server, target.url)];
      const alias = await aliasTo(server, destinationIds, { link_ttl_seconds: 3_600 });

      await deliver(smtp, alias.address, letter('in-events'));

      const [post] = await target.arrived(1);
      const event = JSON.parse(post?.rawBody.toString() ?? '');
      const url = new URL(event.raw_url);
      expect(await (await fetch(`${server.url}${url.pathname}${url.search}`)).text()).toContain('Subject: in-events');
      expect(Date.parse(event.links_expire_at) - Date.parse(event.received_at)).toBeGreaterThan(3_590_000);
    });
  });

  describe('replies to sent emails', () => {
    it('are linked by In-Reply-To and References, in the same environment only', async () => {
      const [alias, other] = [await customAlias({}), await customAlias({})];
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const foreign = expectStatus(
        await server.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'foreign' }, as(key)),
        201,
      ).json;
      const sent = await sendEmail(server, { from: `shop@${HOST}`, to: 'reader@b.example' });
      const { message_id: messageId } = await emailOf(server, sent);
      const forged = messageId.replace(HOST, 'other.example');
      await deliver(smtp, [alias.address, foreign.address], letter('reply', `In-Reply-To: ${messageId}\r\n`));
      await deliver(smtp, alias.address, letter('thread', `References: <0@b.example> ${messageId} <1@b.example>\r\n`));
      await deliver(smtp, alias.address, letter('forged', `In-Reply-To: ${forged}\r\n`));
      await deliver(smtp, alias.address, letter('other'));
      const listed = await messagesOf(server, alias.id, 4);

      const linked = await Promise.all(
        listed.map(async ({ id }) => (await messageOf(server, alias.id, id)).in_reply_to_email_id),
      );

      expect(linked).toEqual([null, null, sent, sent]);
      const replies = async (query: string, path = alias.id, headers = {}) =>
        expectStatus(await server.api('GET', `/v1/aliases/${path}/messages?${query}`, undefined, headers), 200).json;
      const page = await replies(`email_id=${sent}&limit=1`);
      const next = await replies(`email_id=${sent}&limit=1&cursor=${page.next_cursor}`);
      expect([page, next].flatMap(({ data }) => data.map(({ subject }: { subject: string }) => subject))).toEqual([
        'thread',
        'reply',
      ]);
      expect(next.next_cursor).toBeNull();
      expect((await replies(`email_id=${sent}&state=quarantined`)).data).toEqual([]);
      expect((await replies('email_id=evt_nonsense')).data).toEqual([]);
      await deliver(smtp, other.address, letter('other alias', `In-Reply-To: ${messageId}\r\n`));
      await messagesOf(server, other.id, 1);
      const all = async (query = '', id = sent, headers = {}): Promise<ApiAnswer> =>
        server.api('GET', `/v1/emails/${id}/replies${query}`, undefined, headers);
      const { data, next_cursor: cursor } = expectStatus(await all('?limit=2'), 200).json;
      const rest = expectStatus(await all(`?limit=2&cursor=${cursor}`), 200).json;
      expect([...data, ...rest.data]).toMatchObject([
        { subject: 'other alias', alias_id: other.id },
        { subject: 'thread', alias_id: alias.id },
        { subject: 'reply', alias_id: alias.id, from: expect.stringContaining('ada@b.example'), state: 'processed' },
      ]);
      expect(rest).toMatchObject({ data: [expect.anything()], next_cursor: null });
      expectRefusal(await all(`?limit=1&cursor=${page.next_cursor}`), 400);
      for (const id of ['evt_nonsense', listed[0].id]) expectRefusal(await all('', id), 404);
      expectRefusal(await all('', sent, as(key)), 404);
      const later = await sendEmail(server, {
        from: `shop@${HOST}`,
        to: 'reader@b.example',
        scheduled_at: 'in 1 hour',
      });
      expect(expectStatus(await all('', later), 200).json).toEqual({ data: [], next_cursor: null });
      await until(
        async () => (await server.api('GET', `/v1/aliases/${foreign.id}/messages`, undefined, as(key))).json.data,
        (all: ApiAnswer['json'][]) => all.some(({ state }) => state === 'processed'),
        WITHIN_MS,
      );
      expect((await replies(`email_id=${sent}`, foreign.id, as(key))).data).toEqual([]);
    });
  });
});

it('on a laptop, two aliases that forward to each other pass a message on once each', async () => {
  const server = await startServer();
  try {
    const [a, b] = [await aliasTo(server, []), await aliasTo(server, [])];
    const patched = async (from: string, address: string): Promise<void> =>
      void expectStatus(await server.api('PATCH', `/v1/aliases/${from}`, { forward_to: [address] }), 200);
    const confirm = async (alias: string): Promise<void> => {
      const [{ id }] = await messagesOf(server, alias, 1);
      const { text } = await messageOf(server, alias, id);
      const [, token = ''] = /\/forwarding\?token=(\S+)/.exec(text) ?? [];
      const body = new URLSearchParams({ token, decision: 'confirm' });
      expect((await fetch(`${server.url}/forwarding`, { method: 'POST', body })).status).toBe(200);
    };
    await patched(a.id, b.address);
    await confirm(b.id);
    await patched(b.id, a.address);
    await confirm(a.id);

    await sendEmail(server, { to: a.address, subject: 'around' });

    // Alias `b` gets three messages: its own confirmation request, the sent email, and the confirmation request for
    // `a`, which `a` forwards to `b`.
    const [first] = await messagesOf(server, b.id, 3);
    const [again] = await messagesOf(server, a.id, 3);
    expect([first.subject, again.subject]).toEqual(['around', 'around']);
    expect((await messageOf(server, a.id, again.id)).forwards).toMatchObject([
      { address: b.address, status: 'skipped', detail: expect.stringContaining('loop') },
    ]);
  } finally {
    await server.stop();
  }
});
