import { randomUUID } from 'node:crypto';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { type DomainsScene, PLATFORM, recordsOf, startDomainsScene, statusesOf } from './domains.js';
import { expectStatus, uuidOf } from './scene.js';

const UNKNOWN = 'dom_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const TTL = { ttl: 3600, status: 'pending', error: null };

describe('domains', () => {
  let scene: DomainsScene;

  beforeAll(async () => {
    scene = await startDomainsScene();
  });

  afterAll(() => scene.close());

  describe('POST /v1/domains', () => {
    it('201: returns the pending domain with the records to publish', async () => {
      const answer = await scene.server.api('POST', '/v1/domains', {
        domain: 'Mail.Bücher.Example.',
        kind: 'email-send',
      });

      const host = 'mail.xn--bcher-kva.example';
      const cname = (selector: string): object => ({
        record: 'dkim',
        type: 'CNAME',
        name: `${selector}._domainkey.${host}`,
        value: `${selector}._domainkey.${PLATFORM}`,
        priority: null,
        required: true,
        ...TTL,
      });
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        id: expect.stringMatching(/^dom_[0-9A-HJKMNP-TV-Z]{26}$/),
        domain: host,
        kind: 'email-send',
        state: 'pending-dns',
        sending_enabled: false,
        receiving_enabled: false,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: answer.json.created_at,
        verified_at: null,
        reputation: 'healthy',
        dkim: { mode: 'platform', algorithm: 'rsa-2048', keys: [] },
        records: [
          {
            record: 'ownership',
            type: 'TXT',
            name: `_posthorn.${host}`,
            value: expect.stringMatching(/^posthorn-verification=[0-9a-f]{40}$/),
            priority: null,
            required: true,
            ...TTL,
          },
          cname('ph1'),
          cname('ph2'),
          {
            record: 'mail_from',
            type: 'MX',
            name: `bounce.${host}`,
            value: `mx.${PLATFORM}`,
            priority: 10,
            required: false,
            ...TTL,
          },
          {
            record: 'spf',
            type: 'TXT',
            name: `bounce.${host}`,
            value: `v=spf1 include:spf.${PLATFORM} ~all`,
            priority: null,
            required: false,
            ...TTL,
          },
          {
            record: 'dmarc',
            type: 'TXT',
            name: `_dmarc.${host}`,
            value: 'v=DMARC1; p=none;',
            priority: null,
            required: false,
            ...TTL,
          },
        ],
      });
      expect((await scene.server.api('GET', `/v1/domains/${answer.json.id}`)).json).toEqual(answer.json);
    });

    it('201: returns the records for a webhook domain and for a domain that receives email', async () => {
      const [webhook, email] = [await scene.create('webhook'), await scene.create('email')];

      expect(recordsOf(webhook, 'cname')).toMatchObject([
        { type: 'CNAME', name: webhook.domain, value: PLATFORM, required: true },
      ]);
      expect(recordsOf(email, 'mx')).toMatchObject([
        { type: 'MX', name: email.domain, value: `mx.${PLATFORM}`, priority: 10, required: true },
      ]);
    });

    it.each<[string, unknown, string]>([
      ['no domain', { kind: 'email' }, 'domain'],
      ['no kind', { domain: 'a.customer.example' }, 'kind'],
      ['an unknown kind', { domain: 'a.customer.example', kind: 'fax' }, 'kind'],
      ['a single label', { domain: 'localhost', kind: 'webhook' }, 'domain'],
      ['a public suffix', { domain: 'co.uk', kind: 'webhook' }, 'domain'],
      ['an IP address', { domain: '192.0.2.1', kind: 'webhook' }, 'domain'],
      ['a URL', { domain: 'https://a.customer.example', kind: 'webhook' }, 'domain'],
      ["the platform's own", { domain: PLATFORM, kind: 'webhook' }, 'domain'],
      ['a name below the platform domain', { domain: `mx.${PLATFORM}`, kind: 'email-send' }, 'domain'],
      ['254 characters', { domain: `${'a.'.repeat(123)}customer`, kind: 'webhook' }, 'domain'],
      ['an unknown field', { domain: 'a.customer.example', kind: 'webhook', colour: 'red' }, 'colour'],
    ])('422: %s', async (_what, body, path) => {
      expectInvalid(await scene.server.api('POST', '/v1/domains', body), 'schema', path);
    });

    it('409: the environment already has the domain, in any case and of any kind', async () => {
      const { id, domain } = await scene.create('webhook');

      const answer = await scene.server.api('POST', '/v1/domains', {
        domain: domain.toUpperCase(),
        kind: 'email-send',
      });

      expectRefusal(answer, 409);
      expect(answer.json.error.details).toEqual({ domain: id });
    });

    it('201: the same Idempotency-Key twice creates one domain', async () => {
      const [key, domain] = [randomUUID(), scene.host()];
      const post = () =>
        scene.server.api('POST', '/v1/domains', { domain, kind: 'webhook' }, { 'idempotency-key': key });

      const [first, second] = [await post(), await post()];

      expect(second.text).toBe(expectStatus(first, 201).text);
    });
  });

  describe('the MX gate', () => {
    it('409: another MX receives the mail; 201 if that is acknowledged', async () => {
      const domain = scene.host();
      scene.zone.set(domain, 'MX', ['20 second.mail.example', '10 First.Mail.Example']);

      const refused = await scene.server.api('POST', '/v1/domains', { domain, kind: 'email' });

      expectRefusal(refused, 409);
      expect(refused.json.error.details).toEqual({
        mx: [
          { exchange: 'first.mail.example', priority: 10 },
          { exchange: 'second.mail.example', priority: 20 },
        ],
      });
      expectStatus(
        await scene.server.api('POST', '/v1/domains', { domain, kind: 'email', acknowledge_mx_conflict: true }),
        201,
      );
    });

    it.each([
      ['A', '192.0.2.7'],
      ['AAAA', '2001:db8::7'],
    ] as const)('409: without an MX, the mail goes to an address of the domain (%s)', async (type, address) => {
      const domain = scene.host();
      scene.zone.set(domain, type, [address]);

      const refused = await scene.server.api('POST', '/v1/domains', { domain, kind: 'email' });

      expectRefusal(refused, 409);
      expect(refused.json.error.details).toEqual({ mx: [{ exchange: domain, priority: 0 }] });
      expectStatus(
        await scene.server.api('POST', '/v1/domains', { domain, kind: 'email', acknowledge_mx_conflict: true }),
        201,
      );
    });

    it("201: a null MX, and without an MX the address of Posthorn's mail host", async () => {
      const [refuses, ours] = [scene.host(), scene.host()];
      scene.zone.set(refuses, 'MX', ['0 .']);
      scene.zone.set(refuses, 'A', ['192.0.2.7']);
      scene.zone.set(`mx.${PLATFORM}`, 'A', ['192.0.2.25']);
      scene.zone.set(ours, 'A', ['192.0.2.25']);

      await scene.create('email', refuses);
      await scene.create('email', ours);
    });

    it('201: no MX, an MX of Posthorn, and kinds that receive no email', async () => {
      const [ours, sends] = [scene.host(), scene.host()];
      scene.zone.set(ours, 'MX', [`10 mx.${PLATFORM}`]);
      scene.zone.set(sends, 'MX', ['10 mail.elsewhere.example']);

      await scene.create('email');
      await scene.create('email', ours);
      await scene.create('email-send', sends);
    });

    it('409: the MX lookup failed', async () => {
      const domain = scene.host();
      scene.zone.trouble(domain, 'fails');

      const refused = await scene.server.api('POST', '/v1/domains', { domain, kind: 'email' });

      expectRefusal(refused, 409);
      expect(refused.json.error.details).toEqual({ mx: null });
    });
  });

  describe('GET /v1/domains', () => {
    it('200: newest first, in pages, with their records; 404: an unknown domain or one of another environment', async () => {
      const made = [await scene.create('webhook'), await scene.create('email')];
      const { key } = await createKey(scene.server, { scope: 'admin', environment: 'test' });

      const first = (await scene.server.api('GET', '/v1/domains?limit=1')).json;
      const second = (await scene.server.api('GET', `/v1/domains?limit=1&cursor=${first.next_cursor}`)).json;

      expect([...first.data, ...second.data]).toEqual(made.reverse());
      for (const [method, path, body] of [
        ['GET', '', undefined],
        ['PATCH', '', { kind: 'email-send' }],
        ['POST', '/verify', undefined],
        ['DELETE', '', undefined],
      ] as const) {
        expectRefusal(await scene.server.api(method, `/v1/domains/${made[0].id}${path}`, body, as(key)), 404);
        expectRefusal(await scene.server.api(method, `/v1/domains/${UNKNOWN}${path}`, body), 404);
        expectRefusal(await scene.server.api(method, `/v1/domains/nonsense${path}`, body), 404);
      }
      expect((await scene.server.api('GET', '/v1/domains', undefined, as(key))).json).toEqual({
        data: [],
        next_cursor: null,
      });
      expectStatus(await scene.server.api('GET', `/v1/domains/${made[0].id}`), 200);
    });
  });

  describe('POST /v1/domains/{id}/verify', () => {
    it('200: pending with an explanation for each record, then verified once the records are published', async () => {
      const { id, records } = await scene.create('email');

      const pending = await scene.verify(id);
      scene.publish(records);
      const verified = await scene.verify(id);

      expect(pending).toMatchObject({
        state: 'pending-dns',
        verified_at: null,
        sending_enabled: false,
        receiving_enabled: false,
      });
      for (const { status, error, name } of recordsOf(pending, 'ownership', 'dkim', 'mx')) {
        expect({ status, error }).toEqual({ status: 'pending', error: expect.stringContaining(name) });
      }
      expect(verified).toMatchObject({
        id,
        state: 'verified',
        verified_at: expect.stringMatching(TIMESTAMP),
        sending_enabled: true,
        receiving_enabled: true,
      });
      expect(verified.records).toEqual(records.map((record: object) => ({ ...record, status: 'verified' })));
      expect((await scene.server.api('GET', `/v1/domains/${id}`)).json).toEqual(verified);
    });

    it('200: each kind requires its own records only', async () => {
      const kinds: Readonly<Record<string, readonly string[]>> = {
        webhook: ['ownership', 'cname'],
        'email-send': ['ownership', 'dkim'],
        email: ['ownership', 'dkim', 'mx'],
      };
      for (const [kind, required] of Object.entries(kinds)) {
        const domain = await scene.create(kind);
        for (const left of required) {
          scene.publish(recordsOf(domain, ...required));
          scene.withdraw(recordsOf(domain, left));
          expect(await scene.verify(domain.id)).toMatchObject({ state: 'pending-dns' });
        }
        scene.publish(recordsOf(domain, ...required));
        expect(await scene.verify(domain.id)).toMatchObject({
          state: 'verified',
          sending_enabled: kind !== 'webhook',
          receiving_enabled: kind !== 'email-send',
        });
      }
    });

    it('200: an optional record is pending until it is published, and failed if it is lost later', async () => {
      const domain = await scene.create('email-send');
      scene.publish(recordsOf(domain, 'ownership', 'dkim'));

      const never = await scene.verify(domain.id);
      scene.publish(recordsOf(domain, 'dmarc'));
      const published = await scene.verify(domain.id);
      scene.withdraw(recordsOf(domain, 'dmarc'));
      await scene.verify(domain.id);
      const lost = await scene.verify(domain.id);

      expect(never).toMatchObject({ state: 'verified' });
      expect(statusesOf(never)).toMatchObject({ mail_from: 'pending', spf: 'pending', dmarc: 'pending' });
      expect(statusesOf(published)).toMatchObject({ mail_from: 'pending', spf: 'pending', dmarc: 'verified' });
      expect(statusesOf(lost)).toMatchObject({ mail_from: 'pending', spf: 'pending', dmarc: 'failed' });
    });

    it('200: accepts a flattened CNAME and quoted strings, but not the token of an earlier attempt', async () => {
      const domain = await scene.create('email-send');
      const [row] = await scene.sql.rows<{ public_key: string }>(
        `select public_key from dkim_keys where selector = 'ph1'`,
      );
      const [first, second] = recordsOf(domain, 'dkim');
      scene.publish(recordsOf(domain, 'ownership').map((record) => ({ ...record, value: `"${record.value}";` })));
      scene.publish([{ ...first!, type: 'TXT', value: `k=rsa; p=${row?.public_key};` }, second!]);

      expect(await scene.verify(domain.id)).toMatchObject({ state: 'verified' });

      scene.publish(
        recordsOf(domain, 'ownership').map((record) => ({
          ...record,
          value: `posthorn-verification=${'0'.repeat(40)}`,
        })),
      );
      scene.zone.set(first!.name, 'TXT', [`v=DKIM1; p=${row?.public_key}`, 'v=DKIM1; p=MIIB']);
      const wrong = await scene.verify(domain.id);

      expect(statusesOf(wrong)).toMatchObject({ ownership: 'failed', dkim: 'failed verified' });
      expect(recordsOf(wrong, 'ownership')[0]?.error).toContain('0'.repeat(40));
      expect(recordsOf(wrong, 'dkim')[0]?.error).toContain('2 DKIM records');
    });

    it('200: repeated and concurrent checks return the last result without DNS queries', async () => {
      const { id, domain, records } = await scene.create('webhook');
      const asked = (): number => scene.zone.questions.filter((question) => question.endsWith(domain)).length;
      scene.publish(records);

      const answers = await Promise.all(
        Array.from({ length: 8 }, () => scene.server.api('POST', `/v1/domains/${id}/verify`)),
      );
      const [once, again] = [asked(), await scene.server.api('POST', `/v1/domains/${id}/verify`)];

      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
      expect(again.json).toMatchObject({ state: 'verified' });
      expect(asked()).toBe(once);
      // The four lookups are the TXT record that proves the ownership, the CNAME, and the IPv4 and IPv6 addresses.
      expect(once).toBe(4);
    });

    it('200: name servers that fail or stay silent are a temporary failure, and change nothing, however long it lasts', async () => {
      for (const trouble of ['fails', 'silent'] as const) {
        const { id, domain } = await scene.verified('webhook');
        scene.zone.trouble(domain, trouble);

        const lost = await scene.verify(id);
        await scene.letPass(id, 1_000);
        const later = await scene.verify(id);

        for (const seen of [lost, later]) {
          expect(seen).toMatchObject({ state: 'verified', receiving_enabled: true });
          expect(statusesOf(seen)).toEqual({ ownership: 'temporary_failure', cname: 'temporary_failure' });
        }
        scene.zone.trouble(domain, null);
        expect(statusesOf(await scene.verify(id))).toEqual({ ownership: 'verified', cname: 'verified' });
      }
    });

    it('200: the domain fails after 72 hours of answers without a record, and a check revives it', async () => {
      const domain = await scene.verified('email');
      const proof = recordsOf(domain, 'ownership');
      scene.withdraw(proof);

      const lost = await scene.verify(domain.id);
      await scene.letPass(domain.id, 71);
      const almost = await scene.verify(domain.id);
      await scene.letPass(domain.id, 1.1);
      const failed = await scene.verify(domain.id);
      const reopened = await scene.verify(domain.id);
      scene.publish(proof);
      const revived = await scene.verify(domain.id);

      for (const seen of [lost, almost]) expect(seen).toMatchObject({ state: 'verified', sending_enabled: true });
      expect(statusesOf(lost)).toMatchObject({ ownership: 'failed' });
      expect(failed).toMatchObject({ state: 'failed', sending_enabled: false, receiving_enabled: false });
      expect(reopened).toMatchObject({ state: 'pending-dns' });
      expect(revived).toMatchObject({ state: 'verified', sending_enabled: true, receiving_enabled: true });
    });

    it('200: a domain with silent name servers does not delay other domains', async () => {
      const slow = await Promise.all(Array.from({ length: 5 }, () => scene.create('email-send')));
      for (const { domain } of slow) scene.zone.trouble(domain, 'silent');
      const { key } = await createKey(scene.server, { scope: 'admin', environment: 'test' });
      const other = expectStatus(
        await scene.server.api('POST', '/v1/domains', { domain: scene.host(), kind: 'email-send' }, as(key)),
        201,
      ).json;
      scene.publish(other.records);
      let open = slow.length;

      const waiting = slow.map(({ id }) =>
        scene.server.api('POST', `/v1/domains/${id}/verify`).finally(() => (open -= 1)),
      );
      const quick = await scene.server.api('POST', `/v1/domains/${other.id}/verify`, undefined, as(key));

      expect({ state: quick.json.state, open }).toEqual({ state: 'verified', open: slow.length });
      for (const { json } of await Promise.all(waiting))
        expect(statusesOf(json)).toMatchObject({ ownership: 'temporary_failure', dkim: 'temporary_failure' });
    });
  });

  describe('a host that two environments claim', () => {
    it('belongs to the environment whose proof is found first, until it deletes the domain', async () => {
      const host = scene.host();
      const { key } = await createKey(scene.server, { scope: 'admin', environment: 'test' });
      const live = await scene.create('webhook', host);
      const test = expectStatus(
        await scene.server.api('POST', '/v1/domains', { domain: host, kind: 'webhook' }, as(key)),
        201,
      ).json;
      const [mine, theirs] = [recordsOf(live, 'ownership')[0]!, recordsOf(test, 'ownership')[0]!];
      const ask = async () => {
        await scene.sql.rows('update domains set checked_at = null where id = $1', [uuidOf(test.id)]);
        return (await scene.server.api('POST', `/v1/domains/${test.id}/verify`, undefined, as(key))).json;
      };
      scene.publish(live.records);
      scene.zone.set(mine.name, 'TXT', [mine.value, theirs.value]);

      expect(await scene.verify(live.id)).toMatchObject({ state: 'verified' });
      const refused = await ask();
      expectStatus(await scene.server.api('DELETE', `/v1/domains/${live.id}`), 204);
      const free = await ask();

      expect(refused).toMatchObject({ state: 'pending-dns', receiving_enabled: false });
      expect(recordsOf(refused, 'ownership')).toMatchObject([
        { status: 'failed', error: expect.stringContaining('Another environment') },
      ]);
      expect(free).toMatchObject({ state: 'verified' });
    });

    it('has one owner if two processes find both proofs concurrently', async () => {
      const host = scene.host();
      const other = await startServer(scene.server.env);
      try {
        const { key } = await createKey(scene.server, { scope: 'admin', environment: 'test' });
        const live = await scene.create('webhook', host);
        const test = expectStatus(
          await scene.server.api('POST', '/v1/domains', { domain: host, kind: 'webhook' }, as(key)),
          201,
        ).json;
        scene.publish(live.records);
        scene.zone.set(
          `_posthorn.${host}`,
          'TXT',
          [live, test].map((domain) => recordsOf(domain, 'ownership')[0]!.value),
        );

        const answers = await Promise.all([
          scene.server.api('POST', `/v1/domains/${live.id}/verify`),
          other.api('POST', `/v1/domains/${test.id}/verify`, undefined, as(key)),
        ]);

        expect(answers.map(({ json }) => json.state).sort()).toEqual(['pending-dns', 'verified']);
      } finally {
        await other.stop();
      }
    });
  });

  describe('DELETE /v1/domains/{id}', () => {
    it('204, 404 the second time, and the host is available at once', async () => {
      const { id, domain } = await scene.create('webhook');

      expectStatus(await scene.server.api('DELETE', `/v1/domains/${id}`), 204);

      expectRefusal(await scene.server.api('DELETE', `/v1/domains/${id}`), 404);
      await scene.create('webhook', domain);
    });
  });
});
