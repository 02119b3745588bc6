import { simpleParser } from 'mailparser';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey } from './answers.js';
import { emailAfter, emailIn, emailOf, rawOf, sendEmail } from './emailing.js';
import { until } from './polling.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import type { Sql } from './scene.js';
import { eventIn, expectStatus, makeDue, openSql, WITHIN_MS } from './scene.js';

const FROM = 'Shop <shop@mail.example.com>';

describe('emails through a relay', () => {
  let server: PosthornServer;
  let relay: Relay;
  let sql: Sql;
  let testKey: string;

  beforeAll(async () => {
    relay = await startRelay();
    server = await startServer({
      EMAIL_TRANSPORT: relay.url,
      PLATFORM_DOMAIN: 'posthorn.example',
      BOUNCE_SUPPRESSION_DAYS: '30',
    });
    sql = openSql(server);
    await verifyDomain(server, sql, 'mail.example.com');
    testKey = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
  });

  beforeEach(() => {
    relay.refuseRecipients(() => null);
    relay.refuseMessages(() => null);
    relay.holdAnswers(() => null);
  });

  const ofSubject = (subject: string) => relay.taken.filter(({ raw }) => raw.includes(`Subject: ${subject}`));
  const send = (subject: string, to: string[], more: object = {}): Promise<string> =>
    sendEmail(server, { from: FROM, to, subject, ...more });

  it('the relay receives the message that GET …/raw shows: signed, with its Message-ID, once for every recipient; bcc is in no header', async () => {
    const id = await send('arrives', ['a@one.example', 'A@one.example', 'b@two.example'], {
      bcc: 'hidden@three.example',
    });

    const email = await emailIn(server, id, 'delivered');
    const [arrived] = ofSubject('arrives');
    expect([ofSubject('arrives').length, arrived?.to.sort()]).toEqual([
      1,
      ['a@one.example', 'b@two.example', 'hidden@three.example'],
    ]);
    expect(arrived?.raw).toBe(await rawOf(server, id));
    expect(arrived?.raw).toMatch(/^DKIM-Signature: [^]*d=mail\.example\.com/);
    expect(arrived?.raw).not.toContain('hidden');
    expect((await simpleParser(arrived?.raw ?? '')).messageId).toBe(email.message_id);
    expect(arrived?.from).toMatch(/^b\+r[a-z2-7]{56}@/);
  });

  it('addresses with characters outside ASCII arrive, in the envelope and in the header', async () => {
    const id = await send('international', ['zoë@bücher.example', 'b@two.example'], {
      from: 'Ирина <ирина@mail.example.com>',
    });

    const email = await emailIn(server, id, 'delivered');
    const [arrived] = ofSubject('international');
    expect(email.recipients.map(({ address }: { address: string }) => address)).toEqual([
      'zoë@xn--bcher-kva.example',
      'b@two.example',
    ]);
    expect([ofSubject('international').length, arrived?.to.map((address) => address.split('@')[0])]).toEqual([
      1,
      ['zoë', 'b'],
    ]);
    expect(Buffer.from(arrived?.raw ?? '', 'latin1').toString()).toContain('<ирина@mail.example.com>');
  });

  it('a partial rejection: the same bytes are sent again to the deferred recipient only', async () => {
    const refusals: Record<string, { code: number; text: string }> = {
      'gone@x.example': { code: 550, text: '5.1.1 No such user' },
      'later@x.example': { code: 451, text: '4.7.1 Greylisted, try again later' },
    };
    relay.refuseRecipients((address) => refusals[address] ?? null);
    const id = await send('partial', ['fine@x.example', 'gone@x.example', 'later@x.example']);
    const first = await emailAfter(server, id, 1);

    expect(first.status).toBe('bounced');
    expect(first.recipients.map(({ status }: { status: string }) => status)).toEqual([
      'delivered',
      'bounced',
      'sending',
    ]);
    expect(first.attempts).toMatchObject([{ number: 1, status: 451 }]);
    await eventIn(server, id, 'retrying');
    delete refusals['later@x.example'];
    await makeDue(sql, id);
    const second = await emailAfter(server, id, 2);
    expect(second.recipients.map(({ status }: { status: string }) => status)).toEqual([
      'delivered',
      'bounced',
      'delivered',
    ]);
    expect(ofSubject('partial').map(({ to }) => to)).toEqual([['fine@x.example'], ['later@x.example']]);
    expect(ofSubject('partial')[1]?.raw).toBe(ofSubject('partial')[0]?.raw);
    await eventIn(server, id, 'failed');
  });

  it('an address that is permanently rejected is suppressed, and the next email skips it', async () => {
    relay.refuseRecipients((address) =>
      address === 'nobody@x.example' ? { code: 550, text: '5.1.1 No such user' } : null,
    );
    const id = await send('bounces', ['nobody@x.example']);

    await emailIn(server, id, 'bounced');
    expect(expectStatus(await server.api('GET', '/v1/suppressions/nobody@x.example'), 200).json).toMatchObject({
      origin: 'bounce',
      source_id: id,
    });
    relay.refuseRecipients(() => null);
    await emailIn(server, await send('not again', ['nobody@x.example']), 'suppressed');
    expect(ofSubject('not again')).toEqual([]);
  });

  it.each<[string, string, { code: number; text: string }]>([
    [
      'Gmail, about the rate',
      'sending',
      {
        code: 550,
        text: '5.2.1 The user you are trying to contact is receiving mail at a rate that prevents additional messages from being delivered.',
      },
    ],
    ['QQ, about the rate', 'sending', { code: 550, text: 'Connection frequency limited' }],
    [
      'Exchange Online, about a banned IP address',
      'sending',
      { code: 550, text: '5.7.606 Access denied, banned sending IP [192.0.2.1]' },
    ],
    [
      'Exchange Online, about a banned sender',
      'sending',
      { code: 550, text: '5.7.511 Access denied, banned sender[192.0.2.1]' },
    ],
    ['Exim, about the sender', 'failed', { code: 550, text: 'Verification failed for <shop@mail.example.com>' }],
  ])(
    'a reply that does not blame the recipient suppresses no address: %s, the email is %s',
    async (what, status, refusal) => {
      const address = `${what.replace(/\W+/g, '-').toLowerCase()}@blame.example`;
      relay.refuseRecipients(() => refusal);
      const id = await send(`blames ${address}`, [address]);

      const email = await emailAfter(server, id, 1);

      expect([email.status, email.attempts[0].status]).toEqual([status, 550]);
      expect((await server.api('GET', `/v1/suppressions/${address}`)).status).toBe(404);
      relay.refuseRecipients(() => null);
      if (status !== 'sending') return;
      await eventIn(server, id, 'retrying');
      await makeDue(sql, id);
      await emailIn(server, id, 'delivered');
    },
  );

  it('a suppression after a bounce expires after BOUNCE_SUPPRESSION_DAYS: it then stops neither acceptance nor an attempt, and the next bounce creates a new one', async () => {
    const bounceOf = async (): Promise<string> => {
      relay.refuseRecipients(() => ({ code: 550, text: '5.1.1 No such user' }));
      const id = await send('expires', ['moved@x.example']);
      await emailIn(server, id, 'bounced');
      relay.refuseRecipients(() => null);
      return id;
    };
    const suppression = () => server.api('GET', '/v1/suppressions/moved@x.example');
    await bounceOf();
    const first = expectStatus(await suppression(), 200).json;
    expect((Date.parse(first.expires_at) - Date.parse(first.created_at)) / 86_400_000).toBeCloseTo(30, 3);
    await emailIn(server, await send('held', ['moved@x.example']), 'suppressed');
    relay.refuseRecipients(() => ({ code: 451, text: '4.7.1 Greylisted' }));
    const waiting = await send('waits', ['moved+other@x.example', 'else@x.example']);
    await emailAfter(server, waiting, 1);
    relay.refuseRecipients(() => null);
    await sql.rows(
      "update suppressions set expires_at = now(), address = 'moved+other@x.example' where address = 'moved@x.example'",
    );
    await makeDue(sql, waiting);
    await emailIn(server, waiting, 'delivered');
    await sql.rows("update suppressions set address = 'moved@x.example' where address = 'moved+other@x.example'");

    expect((await suppression()).status).toBe(404);
    expect((await server.api('GET', '/v1/suppressions?email=moved@x.example')).json.data).toEqual([]);
    expect(
      (await server.api('GET', '/v1/suppressions?limit=100')).json.data.map(({ id }: { id: string }) => id),
    ).not.toContain(first.id);
    await emailIn(server, await send('again', ['moved@x.example']), 'delivered');
    const last = await bounceOf();
    expect(expectStatus(await suppression(), 200).json).toMatchObject({ origin: 'bounce', source_id: last });
    expect((await suppression()).json.id).not.toBe(first.id);
    await sql.rows("update suppressions set expires_at = now() where address = 'moved@x.example'");
    expect(
      expectStatus(await server.api('POST', '/v1/suppressions', { email: 'moved@x.example' }), 201).json,
    ).toMatchObject({ origin: 'manual', source_id: null, expires_at: null });
    expectStatus(await server.api('DELETE', '/v1/suppressions/moved@x.example'), 204);
  });

  it('a message that is permanently rejected fails and suppresses no address; a replay tries it again', async () => {
    relay.refuseMessages(() => ({ code: 554, text: '5.7.1 Message refused by policy' }));
    const id = await send('policy', ['a@policy.example']);

    const email = await emailIn(server, id, 'failed');
    expect(email.timeline).toMatchObject([{ type: 'rejected', recipient: 'a@policy.example' }]);
    expect((await emailAfter(server, id, 1)).attempts).toMatchObject([{ status: 554 }]);
    expect((await server.api('GET', '/v1/suppressions/a@policy.example')).status).toBe(404);
    await eventIn(server, id, 'failed');
    relay.refuseMessages(() => null);
    expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);
    await emailIn(server, id, 'delivered');
    await eventIn(server, id, 'delivered');
  });

  it('a server that is slow after the final dot (RFC 5321, section 4.5.3.2.6) gets each message once, and delays no other email', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    relay.holdAnswers((to) => (to[0]?.endsWith('@slow.example') === true ? released : null));
    const slow = await Promise.all(Array.from({ length: 5 }, (_, i) => send('slow', [`a${i}@slow.example`])));
    await until(
      async () => ofSubject('slow').length,
      (count) => count === 5,
      WITHIN_MS,
    );

    for (const id of await Promise.all(Array.from({ length: 5 }, (_, i) => send('quick', [`a${i}@quick.example`]))))
      await emailIn(server, id, 'delivered');
    expect(ofSubject('slow')).toHaveLength(5);
    release();
    for (const id of slow) {
      await emailIn(server, id, 'delivered');
      expect((await emailAfter(server, id, 1)).attempts).toHaveLength(1);
    }
    expect(ofSubject('slow')).toHaveLength(5);
  });

  it('the replay of a delivered email sends nothing', async () => {
    const id = await send('once', ['a@once.example']);
    await emailIn(server, id, 'delivered');

    expectStatus(await server.api('POST', `/v1/events/${id}/replay`), 202);

    await emailAfter(server, id, 2);
    expect(ofSubject('once')).toHaveLength(1);
  });

  it('no email of the test environment or of the simulator leaves the service', async () => {
    await verifyDomainOf('test.example.com');
    const ids = [
      await sendEmail(server, { from: 'a@test.example.com', to: 'a@leaves.example', subject: 'stays' }, as(testKey)),
    ];
    await until(
      () => emailWith(ids[0] as string, testKey),
      (email) => email.status === 'delivered',
      WITHIN_MS,
    );
    const mine = await sendEmail(server, {
      from: 'you@simulator.posthorn.example',
      to: 'a@leaves.example',
      subject: 'stays',
    });
    await emailIn(server, mine, 'delivered');
    await emailIn(server, await send('stays', ['bounced@simulator.posthorn.example']), 'bounced');

    expect(ofSubject('stays')).toEqual([]);
    expect((await emailOf(server, mine)).captured).toBe(true);
  });

  it('an unreachable relay: emails are retried, and only this opens the circuit', async () => {
    const { port } = relay;
    await relay.close();
    try {
      const id = await send('away', ['a@away.example']);
      const email = await emailAfter(server, id, 1);
      expect([email.status, email.attempts[0].status]).toEqual(['sending', null]);
      const [circuit] = await until(
        () => sql.rows<{ consecutive_failures: number }>('select consecutive_failures from circuits'),
        (rows) => rows.length > 0,
        WITHIN_MS,
      );
      expect(circuit?.consecutive_failures).toBe(1);
      await sql.rows(`update circuits set state = 'open', opened_at = now()`);
      const { data } = (await server.api('GET', '/v1/attention')).json;
      const [concern] = data.filter(({ type }: { type: string }) => type === 'circuit.open');
      expect(concern).toMatchObject({ sentence: expect.stringContaining('mail transport') });
      const listed = expectStatus(await server.api('GET', concern.url), 200).json;
      expect(listed.data.map((row: { id: string }) => row.id)).toContain(id);
      await sql.rows(`update circuits set state = 'closed', opened_at = null`);
      relay = await startRelay(port);
      await makeDue(sql, id);
      await emailIn(server, id, 'delivered');
      expect(relay.taken.map(({ to }) => to)).toEqual([['a@away.example']]);
    } finally {
      if (relay.taken.length > 1) relay = await startRelay(port);
    }
  });

  async function emailWith(id: string, key: string) {
    return expectStatus(await server.api('GET', `/v1/emails/${id}`, undefined, as(key)), 200).json;
  }

  async function verifyDomainOf(host: string): Promise<void> {
    const asTest = {
      ...server,
      api: (method: string, path: string, body?: unknown) => server.api(method, path, body, as(testKey)),
    };
    await verifyDomain(asTest, sql, host);
  }
});
