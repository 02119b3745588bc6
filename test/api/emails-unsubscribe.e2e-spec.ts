import { spawn } from 'node:child_process';
import { hasPythonModules, hasTool } from '../support/optional-tools.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { EMAIL, emailAfter, emailIn, emailOf, rawOf, sendEmail, simulated } from './emailing.js';
import { type Relay, startRelay, verifyDomain } from './relay.js';
import type { Sql, Targets } from './scene.js';
import { eventIn, expectStatus, makeDue, openSql, startTargets } from './scene.js';
import { listen } from './system-event-target.js';

const FROM = 'Shop <shop@mail.example.com>';
const { POSTHORN_TEST_PYTHON: PYTHON } = process.env;
const hasPython = hasTool(
  { skipped: 'the verification of one-click headers', tool: 'Python with dkimpy', install: 'see .ci/run' },
  () => hasPythonModules(PYTHON, 'dkim'),
);

/** Python program: verifies a message's signature, and sends its one-click request as a mailbox provider does. */
const MAILBOX_PROVIDER = `
import dkim, email, email.policy, json, sys, urllib.request
given = json.load(sys.stdin)
raw = given["raw"].encode("latin1")
verifier = dkim.DKIM(raw)
valid = verifier.verify(dnsfunc=lambda name, timeout=5: given["record"].encode())
message = email.message_from_bytes(raw, policy=email.policy.SMTP)
url = message["List-Unsubscribe"].strip().strip("<>")
body = message["List-Unsubscribe-Post"].encode()
kind = "application/x-www-form-urlencoded"
if given["multipart"]:
    name, value = body.decode().split("=")
    kind = 'multipart/form-data; boundary="b1"'
    body = f'--b1\\r\\nContent-Disposition: form-data; name="{name}"\\r\\n\\r\\n{value}\\r\\n--b1--\\r\\n'.encode()
request = urllib.request.Request(url, data=body, headers={"Content-Type": kind})
with urllib.request.urlopen(request) as answer:
    status = answer.status
print(json.dumps({"valid": bool(valid), "signed": [n.decode().lower() for n, v in verifier.signed_headers], "status": status, "url": url}))
`;

describe('unsubscribe links and topics', () => {
  let server: PosthornServer;
  let relay: Relay;
  let targets: Targets;
  let sql: Sql;
  let topic: string;

  beforeAll(async () => {
    [relay, targets] = await Promise.all([startRelay(), startTargets()]);
    server = await startServer({ EMAIL_TRANSPORT: relay.url });
    sql = openSql(server);
    await verifyDomain(server, sql, 'mail.example.com');
    topic = await createTopic('news');
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await relay?.close();
    await targets?.close();
  });

  let addresses = 0;
  const address = (): string => `reader${(addresses += 1)}@example.org`;

  async function createTopic(key: string, defaultSubscription = 'opt_in'): Promise<string> {
    const body = { name: `About ${key}`, key, default_subscription: defaultSubscription };
    return expectStatus(await server.api('POST', '/v1/topics', body), 201).json.id as string;
  }

  /** Sends an email with an unsubscribe link, and returns its id and the link. */
  async function sendWithLink(to: string, fields: object = { unsubscribe: { topic: 'news' } }) {
    const id = await sendEmail(server, { from: FROM, to, ...fields });
    const raw = await rawOf(server, id);
    return { id, raw, link: linkIn(raw) };
  }

  const press = (link: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(link, { method: 'POST', body: new URLSearchParams(form), headers });
  const ONE_CLICK = { 'List-Unsubscribe': 'One-Click' };
  const subscriptionOf = async (to: string) => (await server.api('GET', `/v1/topics/news/subscriptions/${to}`)).json;

  // Must run first. After other tests, the system events would also contain the recipients' choices in those tests.
  it('email.unsubscribed and email.resubscribed reach the system destination once for each choice', async () => {
    const systemTarget = await listen(server, targets);
    const [to, all] = [address(), address()];
    const { id, link } = await sendWithLink(to);
    const whole = await sendWithLink(all, { unsubscribe: true });

    for (let i = 0; i < 2; i += 1) await press(link, ONE_CLICK);
    await press(link, { action: 'resubscribe' });
    const [left] = await systemTarget.waitFor('email.unsubscribed');
    const [back] = await systemTarget.waitFor('email.resubscribed');
    for (let i = 0; i < 2; i += 1) await press(whole.link, ONE_CLICK);

    const item = { email: id, recipient: to, topic, topic_key: 'news', at: expect.any(String), count: 1 };
    expect([left?.data.items, back?.data.items]).toEqual([[item], [item]]);
    expect(back?.data.items[0]?.['at'] > left?.data.items[0]?.['at']).toBe(true);
    const [, leftAll] = await systemTarget.waitFor('email.unsubscribed', ({ length }) => length > 1);
    expect(leftAll?.data.items).toEqual([{ ...item, email: whole.id, recipient: all, topic: null, topic_key: null }]);
  });

  describe('the headers and the one-click request', () => {
    it.each([false, true])(
      '200: a mailbox provider verifies that both headers are signed, and unsubscribes with one request (multipart: %s)',
      async (multipart) => {
        if (!hasPython) return;
        const to = address();
        const { id, raw } = await sendWithLink(to);
        const [, selector] = /^DKIM-Signature: [^]*?\bs=([a-z0-9]+);/.exec(raw) ?? [];
        const [key] = await sql.rows<{ public: string }>(
          'select public_key as public from dkim_keys where selector = $1',
          [selector],
        );

        const { status, valid, signed } = await asMailboxProvider({
          raw,
          record: `v=DKIM1; k=rsa; p=${key?.public}`,
          multipart,
        });

        expect([status, valid]).toEqual([200, true]);
        expect(signed).toEqual(expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']));
        expect(await subscriptionOf(to)).toEqual({
          topic_id: topic,
          email: to,
          subscription: 'opt_out',
          origin: 'recipient',
          source_id: id,
          updated_at: expect.stringMatching(TIMESTAMP),
        });
        expect((await emailOf(server, id)).timeline).toContainEqual(
          expect.objectContaining({ type: 'unsubscribed', subtype: 'news', recipient: to }),
        );
      },
    );

    it('the placeholder is replaced in text and html, and the header that requests the link is not sent', async () => {
      const { raw, link } = await sendWithLink(address(), {
        text: 'off: {{unsubscribe_url}}',
        html: '<a href="{{{RESEND_UNSUBSCRIBE_URL}}}">off</a>',
        headers: { 'X-Unsubscribe-Topic': 'news' },
      });

      const content = raw.replaceAll('=\r\n', '');
      expect(content).toContain(`off: ${link}`);
      expect(content).toMatch(`<a href=3D"${link}">`);
      expect(raw).not.toMatch(/X-Unsubscribe/i);
    });

    it('GET changes nothing, so that link scanners unsubscribe nobody', async () => {
      const to = address();
      const { link } = await sendWithLink(to);

      const pages = await Promise.all([fetch(link), fetch(link, { method: 'HEAD' }), fetch(link)]);

      expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(await subscriptionOf(to)).toMatchObject({ subscription: 'opt_in', origin: 'default', updated_at: null });
    });

    it('works after the key was revoked, the domain removed and the email erased', async () => {
      const to = address();
      const { id, key } = await createKey(server, { scope: 'write' });
      await verifyDomain(server, sql, 'gone.example.com');
      const sent = await server.api(
        'POST',
        '/v1/emails',
        { ...EMAIL, from: 'a@gone.example.com', to, unsubscribe: { topic: 'news' } },
        as(key),
      );
      const email = expectStatus(sent, 202).json.id as string;
      const link = linkIn(await rawOf(server, email));
      await eventIn(server, email, 'delivered');
      expectStatus(await server.api('DELETE', `/v1/keys/${id}`), 204);
      const { data: domains } = (await server.api('GET', '/v1/domains')).json;
      const domain = domains.find(({ domain: name }: { domain: string }) => name === 'gone.example.com');
      expectStatus(await server.api('DELETE', `/v1/domains/${domain.id}`), 204);
      expectStatus(await server.api('DELETE', `/v1/events/${email}/payload`), 204);

      expect((await press(link, ONE_CLICK)).status).toBe(200);

      expect(await subscriptionOf(to)).toMatchObject({ subscription: 'opt_out', source_id: email });
    });
  });

  describe('the page', () => {
    it('asks in the language of the reader, shows the masked address, and allows nothing but its form', async () => {
      const to = address();
      const { link } = await sendWithLink(to);

      const [english, german] = await Promise.all([
        fetch(link),
        fetch(link, { headers: { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' } }),
      ]);

      const text = await english.text();
      expect(text).toMatch(/<html lang="en">.*Unsubscribe\?.*r•••@example\.org.*About news.*mail\.example\.com/s);
      expect(text).not.toContain(to);
      expect(text).not.toContain('<script');
      expect(await german.text()).toMatch(/<html lang="de">.*Abmelden\?/s);
      expect(Object.fromEntries(english.headers)).toMatchObject({
        'content-security-policy':
          "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow',
        'cache-control': 'no-store',
      });
      expect(english.headers.has('set-cookie')).toBe(false);
    });

    it('unsubscribes, and subscribes to the topic again', async () => {
      const to = address();
      const { link } = await sendWithLink(to);

      const done = await (await press(link, { action: 'unsubscribe' }, { origin: 'null' })).text();
      const off = await subscriptionOf(to);
      const undone = await (await press(link, { action: 'resubscribe' })).text();

      expect(done).toMatch(/You are unsubscribed.*value="resubscribe"/s);
      expect(off).toMatchObject({ subscription: 'opt_out' });
      expect(undone).toContain('You are subscribed');
      expect(await subscriptionOf(to)).toMatchObject({ subscription: 'opt_in', origin: 'recipient' });
    });

    it('404: a changed or invented token, with the same answer for GET and POST', async () => {
      const { link } = await sendWithLink(address());
      const forged = [
        `${link.slice(0, -1)}${link.endsWith('A') ? 'B' : 'A'}x`,
        link.slice(0, -9),
        `${server.url}/u/x/y`,
      ];

      for (const url of forged) {
        const answers = [await fetch(url), await press(url, ONE_CLICK)];
        expect(answers.map(({ status }) => status)).toEqual([404, 404]);
        for (const answer of answers) expect(await answer.text()).toContain('This link does not work');
      }
    });

    it('400: a form without a choice; 415: JSON', async () => {
      const { link } = await sendWithLink(address());

      expect((await press(link, { other: 'x' })).status).toBe(400);
      expect((await fetch(link, { method: 'POST' })).status).toBe(400);
      const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
      expect((await fetch(link, json)).status).toBe(415);
    });
  });

  describe('emails of a topic', () => {
    it('suppressed: an unsubscribed recipient gets no email of the topic, but emails of others', async () => {
      const to = address();
      const { link } = await sendWithLink(to);
      await press(link, ONE_CLICK);

      const again = await server.api('POST', '/v1/emails', { ...EMAIL, from: FROM, to, topic_id: topic });
      const other = await sendEmail(server, { from: FROM, to });

      expect([again.status, again.json.status]).toEqual([202, 'suppressed']);
      await emailIn(server, other, 'delivered');
      const detail = 'The address is not subscribed to the topic "news".';
      expect(await emailOf(server, again.json.id)).toMatchObject({
        status: 'suppressed',
        recipients: [{ status: 'suppressed', detail }],
        timeline: [{ type: 'rejected', subtype: 'unsubscribed', detail, recipient: to }],
      });
    });

    it('the next attempt skips a recipient who unsubscribed while the email was waiting, and one of a deleted topic', async () => {
      await createTopic('temporary');
      const [first, second] = [
        await sendWithLink(simulated('deferred')),
        await sendWithLink(simulated('deferred'), { unsubscribe: { topic: 'temporary' } }),
      ];
      for (const { id } of [first, second]) await emailAfter(server, id, 1);
      await press(first.link, ONE_CLICK);
      expectStatus(await server.api('DELETE', '/v1/topics/temporary'), 204);

      for (const { id } of [first, second]) await makeDue(sql, id);

      const [left, deleted] = [
        await emailIn(server, first.id, 'suppressed'),
        await emailIn(server, second.id, 'suppressed'),
      ];
      expect(left.recipients[0].detail).toBe('The address is not subscribed to the topic "news".');
      expect(deleted.recipients[0].detail).toBe('The topic of the email was deleted.');
      expect((await press(second.link, ONE_CLICK)).status).toBe(200);
    });

    it('opt_out by default: only a subscribed address gets the email', async () => {
      await createTopic('beta', 'opt_out');
      const to = address();
      const email = { ...EMAIL, from: FROM, to, unsubscribe: { topic: 'beta' } };

      const before = await server.api('POST', '/v1/emails', email);
      expectStatus(
        await server.api('PUT', `/v1/topics/beta/subscriptions/${to.toUpperCase()}`, { subscription: 'opt_in' }),
        200,
      );
      const after = await server.api('POST', '/v1/emails', email);

      expect([before.json.status, after.json.status]).toEqual(['suppressed', 'sending']);
    });

    it('202: an item of a batch says that the recipient may have left the topic', async () => {
      const to = address();
      expectStatus(await server.api('PUT', `/v1/topics/news/subscriptions/${to}`, { subscription: 'opt_out' }), 200);

      const { json } = await server.api('POST', '/v1/emails/batch', [{ ...EMAIL, from: FROM, to, topic_id: 'news' }]);

      expect(json.data).toMatchObject([
        { error: { type: 'suppressed', message: expect.stringContaining("not subscribed to the email's topic") } },
      ]);
    });

    it('a scheduled email checks the subscription when it is sent', async () => {
      const to = address();
      const id = await sendEmail(server, { from: FROM, to, unsubscribe: { topic: 'news' }, scheduled_at: 'in 1 hour' });
      expectStatus(await server.api('PUT', `/v1/topics/news/subscriptions/${to}`, { subscription: 'opt_out' }), 200);

      await sql.rows('update scheduled_emails set due_at = now(), try_at = now()');

      expect((await emailIn(server, id, 'suppressed')).timeline[0].subtype).toBe('unsubscribed');
    });

    it.each<[string, object, string[]]>([
      ['two recipients', { to: ['a@example.org', 'b@example.org'], unsubscribe: true }, ['unsubscribe']],
      ['a blind copy', { bcc: 'b@example.org', unsubscribe: { topic: 'news' } }, ['unsubscribe']],
      [
        'a List-Unsubscribe header',
        { unsubscribe: true, headers: { 'List-Unsubscribe': '<https://shop.example/u>' } },
        ['headers.List-Unsubscribe'],
      ],
      ['an unknown topic', { unsubscribe: { topic: 'unknown' } }, ['unsubscribe.topic']],
      ['an unknown topic_id', { topic_id: 'top_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' }, ['unsubscribe.topic']],
      ['a wrong type', { unsubscribe: 'yes' }, ['unsubscribe']],
      [
        'bodies over 1 MB with their links',
        { unsubscribe: true, html: '{{unsubscribe_url}}'.repeat(55_000), text: '{{unsubscribe_url}}'.repeat(55_000) },
        ['html', 'text'],
      ],
    ])('422: %s', async (_, fields, paths) => {
      expectInvalid(await server.api('POST', '/v1/emails', { ...EMAIL, ...fields }), 'schema', ...paths);
    });
  });

  describe('without a topic', () => {
    it('the address is suppressed with the origin unsubscribe, even if a bounce had suppressed it for a time', async () => {
      const [to, bounced, complained] = [address(), address(), address()];
      const sent = await Promise.all(
        [to, bounced, complained].map((each) => sendWithLink(each, { unsubscribe: true })),
      );
      await sql.rows(
        `insert into suppressions select environment_id, gen_random_uuid(), a, a, o, null, now(), now() + interval '1 day'
         from domains, (values ($1, 'bounce'), ($2, 'complaint')) as v(a, o) where host = 'mail.example.com'`,
        [bounced, complained],
      );

      for (const { link } of sent) expect((await press(link, ONE_CLICK)).status).toBe(200);

      const origins = await Promise.all(
        [to, bounced, complained].map(async (each) => (await server.api('GET', `/v1/suppressions/${each}`)).json),
      );
      expect(origins).toMatchObject([
        { origin: 'unsubscribe', source_id: sent[0]?.id, expires_at: null },
        { origin: 'unsubscribe', expires_at: null },
        { origin: 'complaint' },
      ]);
      const listed = (await server.api('GET', '/v1/suppressions?origin=unsubscribe')).json.data;
      expect(listed.map(({ email }: { email: string }) => email)).toEqual(expect.arrayContaining([to, bounced]));
      expect(await (await press(sent[0]?.link ?? '', { action: 'resubscribe' })).text()).toContain(
        'contact the sender',
      );
      expect((await server.api('GET', `/v1/suppressions/${to}`)).status).toBe(200);
    });
  });

  describe('/v1/topics', () => {
    it('null in optional fields is the same as no value', async () => {
      const body = { name: 'Null', key: null, description: null, default_subscription: 'opt_in' };
      const made = expectStatus(await server.api('POST', '/v1/topics', body), 201).json;
      const changed = await server.api('PATCH', '/v1/topics/null', { id: null, name: 'Nothing' });

      expect([made.key, changed.json]).toEqual(['null', { ...made, name: 'Nothing', updated_at: expect.any(String) }]);
      expectStatus(await server.api('DELETE', '/v1/topics/null'), 204);
    });

    it('201: a topic is created, found by id and key, changed, listed and deleted with its subscriptions', async () => {
      const made = expectStatus(
        await server.api('POST', '/v1/topics', { name: 'Crème & Co.', default_subscription: 'opt_in' }),
        201,
      ).json;

      expect(made).toEqual({
        id: expect.stringMatching(/^top_[0-9A-HJKMNP-TV-Z]{26}$/),
        key: 'creme-co',
        name: 'Crème & Co.',
        description: null,
        default_subscription: 'opt_in',
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: expect.stringMatching(TIMESTAMP),
      });
      for (const name of [made.id, 'creme-co'])
        expect((await server.api('GET', `/v1/topics/${name}`)).json).toEqual(made);
      const changed = await server.api('PATCH', '/v1/topics/creme-co', { name: 'Creams', description: 'All creams' });
      expect(changed.json).toMatchObject({ id: made.id, key: 'creme-co', name: 'Creams', description: 'All creams' });
      expect((await server.api('GET', '/v1/topics')).json.data).toContainEqual(changed.json);
      await server.api('PUT', `/v1/topics/${made.id}/subscriptions/a@example.org`, { subscription: 'opt_out' });
      expectStatus(await server.api('DELETE', `/v1/topics/${made.id}`), 204);
      for (const method of ['GET', 'DELETE']) expectRefusal(await server.api(method, `/v1/topics/${made.id}`), 404);
    });

    it.each<[string, object, string[]]>([
      ['no default', { name: 'A' }, ['default_subscription']],
      ['an unknown default', { name: 'A', default_subscription: 'yes' }, ['default_subscription']],
      ['a name with a line break', { name: 'A\nB', default_subscription: 'opt_in' }, ['name']],
      ['an empty name', { name: ' ', default_subscription: 'opt_in' }, ['name']],
      ['a key like an id', { name: 'A', key: 'top_a', default_subscription: 'opt_in' }, ['key']],
      ['a key with capitals', { name: 'A', key: 'News', default_subscription: 'opt_in' }, ['key']],
      ['a name without letters', { name: '世界', default_subscription: 'opt_in' }, ['key']],
    ])('422: %s', async (_, body, paths) => {
      expectInvalid(await server.api('POST', '/v1/topics', body), 'schema', ...paths);
    });

    it('409: a key is unique; 422: key and default cannot be changed', async () => {
      expectRefusal(await server.api('POST', '/v1/topics', { name: 'News', default_subscription: 'opt_in' }), 409);
      for (const body of [{ key: 'other' }, { default_subscription: 'opt_out' }])
        expectInvalid(await server.api('PATCH', '/v1/topics/news', body), 'schema', ...Object.keys(body));
    });

    it('200: subscriptions are listed newest first, in pages and by subscription', async () => {
      await createTopic('paged');
      const set = (email: string, subscription: string) =>
        server.api('PUT', `/v1/topics/paged/subscriptions/${email}`, { subscription });
      for (const email of ['a@example.org', 'b@example.org', 'C@example.org']) await set(email, 'opt_out');
      await set('b@example.org', 'opt_in');

      const first = (await server.api('GET', '/v1/topics/paged/subscriptions?limit=2')).json;
      const rest = await server.api('GET', `/v1/topics/paged/subscriptions?limit=2&cursor=${first.next_cursor}`);
      const out = (await server.api('GET', '/v1/topics/paged/subscriptions?subscription=opt_out')).json;

      const emails = (page: { data: { email: string }[] }): string[] => page.data.map(({ email }) => email);
      expect([emails(first), emails(rest.json)]).toEqual([['C@example.org', 'b@example.org'], ['a@example.org']]);
      expect(emails(out)).toEqual(['C@example.org', 'a@example.org']);
      expectStatus(await server.api('DELETE', '/v1/topics/paged/subscriptions/c@EXAMPLE.org'), 204);
      expectRefusal(await server.api('DELETE', '/v1/topics/paged/subscriptions/c@example.org'), 404);
      expectRefusal(await server.api('GET', '/v1/topics/paged/subscriptions/nobody'), 400);
    });
  });
});

/** Returns the URL of the header List-Unsubscribe, which is folded because of its length. */
const linkIn = (raw: string): string => /^List-Unsubscribe:\s+<(\S+)>\r$/m.exec(raw)?.[1] ?? '';

/** Runs the script in Python without blocking this process, which runs the relay. */
async function asMailboxProvider(given: object): Promise<{ status: number; valid: boolean; signed: string[] }> {
  const child = spawn(PYTHON ?? '', ['-c', MAILBOX_PROVIDER], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stdin.end(JSON.stringify(given));
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(output) as { status: number; valid: boolean; signed: string[] };
}
