import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { simpleParser } from 'mailparser';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { EMAIL, emailAfter, emailIn, emailOf, rawOf, sendEmail, simulated } from './emailing.js';
import type { Sql, Targets } from './scene.js';
import { eventIn, expectStatus, makeDue, openSql, startTargets } from './scene.js';
import { countOf, listen } from './system-event-target.js';

const CERTIFICATE = fileURLToPath(new URL('../support/tls/localhost-cert.pem', import.meta.url));
const FILE = Buffer.from('%PDF-1.7 and what follows');

describe('suppressions, system events about emails, and attachments by URL', () => {
  let server: PosthornServer;
  let targets: Targets;
  let files: Server;
  let filesUrl: string;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    files = createServer(
      { cert: readFileSync(CERTIFICATE), key: readFileSync(CERTIFICATE.replace('-cert', '-key')) },
      (request, response) => {
        if (request.url === '/hangs') return;
        if (request.url === '/moved') response.writeHead(302, { location: '/invoice.pdf' }).end();
        else if (request.url === '/large') response.writeHead(200).end(Buffer.alloc(10 * 1024 * 1024 + 1));
        else if (request.url === '/six') response.writeHead(200).end(Buffer.alloc(6 * 1024 * 1024));
        else if (request.url === '/gone') response.writeHead(404).end();
        else response.writeHead(200, { 'content-type': 'application/pdf; charset=binary' }).end(FILE);
      },
    );
    await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
    filesUrl = `https://localhost:${(files.address() as AddressInfo).port}`;
    server = await startServer({ NODE_EXTRA_CA_CERTS: CERTIFICATE });
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
    files?.closeAllConnections();
    files?.close();
  });

  describe('/v1/suppressions', () => {
    it('201: an address is added, returned by id and by address, listed, and deleted', async () => {
      const made = await server.api('POST', '/v1/suppressions', { email: 'Somebody+a@Example.org' });

      expect([made.status, made.json]).toEqual([
        201,
        {
          id: expect.stringMatching(/^sup_[0-9A-HJKMNP-TV-Z]{26}$/),
          email: 'Somebody+a@example.org',
          origin: 'manual',
          source_id: null,
          created_at: expect.stringMatching(TIMESTAMP),
          expires_at: null,
        },
      ]);
      for (const name of [made.json.id, 'somebody%2Ba@example.org', 'SOMEBODY%2BA@EXAMPLE.ORG'])
        expect((await server.api('GET', `/v1/suppressions/${name}`)).json).toEqual(made.json);
      for (const query of ['', '?origin=manual', '?email=somebody%2Ba@example.org'])
        expect((await server.api('GET', `/v1/suppressions${query}`)).json.data).toContainEqual(made.json);
      for (const query of [
        '?origin=bounce',
        '?email=nobody@example.org',
        '?email=somebody%2Ba@example.org&origin=bounce',
      ])
        expect((await server.api('GET', `/v1/suppressions${query}`)).json.data).toEqual([]);
      expectRefusal(await server.api('POST', '/v1/suppressions', { email: 'somebody+A@example.org' }), 409);
      expectInvalid(
        await server.api('POST', '/v1/suppressions', { email: 'a@b.example, c@d.example' }),
        'schema',
        'email',
      );
      expectStatus(await server.api('DELETE', '/v1/suppressions/somebody%2Ba@example.org'), 204);
      for (const method of ['GET', 'DELETE'])
        expectRefusal(await server.api(method, `/v1/suppressions/${made.json.id}`), 404);
    });

    it('200: newest first, in pages', async () => {
      const ids: string[] = [];
      for (let i = 0; i < 3; i += 1)
        ids.unshift(
          expectStatus(await server.api('POST', '/v1/suppressions', { email: `page${i}@example.org` }), 201).json.id,
        );

      const first = (await server.api('GET', '/v1/suppressions?limit=2')).json;
      const second = (await server.api('GET', `/v1/suppressions?limit=2&cursor=${first.next_cursor}`)).json;

      expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids);
      expect(second.next_cursor).toBeNull();
      for (const id of ids) expectStatus(await server.api('DELETE', `/v1/suppressions/${id}`), 204);
    });

    describe('batch/add', () => {
      const add = (emails: unknown): ReturnType<PosthornServer['api']> =>
        server.api('POST', '/v1/suppressions/batch/add', { emails });

      it('200: adds the addresses once, in order, and keeps the suppressions of listed addresses', async () => {
        const listed = expectStatus(
          await server.api('POST', '/v1/suppressions', { email: 'b2@example.org' }),
          201,
        ).json;

        const first = await add(['B1@Example.org', 'B2@example.org', 'b1@example.org', 'zoë@example.org']);
        const second = await add(['zoë@example.org', 'b1@example.org']);

        const [b1, b2, , zoe] = expectStatus(first, 200).json.data;
        expect(first.json.data).toEqual([
          { id: expect.stringMatching(/^sup_/), email: 'b1@example.org' },
          { id: listed.id, email: 'b2@example.org' },
          b1,
          { id: expect.stringMatching(/^sup_/), email: 'zoë@example.org' },
        ]);
        expect(second.json).toEqual({ data: [zoe, b1] });
        expect((await server.api('GET', '/v1/suppressions/b2@example.org')).json).toEqual(listed);
        for (const { id } of [b1, b2, zoe]) expectStatus(await server.api('DELETE', `/v1/suppressions/${id}`), 204);
      });

      it('422: names every invalid address, and adds none', async () => {
        const refused = await add(['good@example.org', 'nobody', 'a@b.example, c@d.example']);

        expectInvalid(refused, 'schema', 'emails.1', 'emails.2');
        expectRefusal(await server.api('GET', '/v1/suppressions/good@example.org'), 404);
      });

      it.each([[[]], ['a@example.org'], [[5]], [undefined], [Array.from({ length: 101 }, (_, i) => `${i}@x.example`)]])(
        '422: %j',
        async (emails) => {
          expectStatus(await add(emails), 422);
        },
      );

      it('200: concurrent batches of 100 addresses in opposite orders have one audit entry each', async () => {
        const emails = Array.from({ length: 100 }, (_, i) => `together${i}@example.org`);

        const answers = await Promise.all([add(emails), add([...emails].reverse()), add(emails)]);

        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
        const [first, reversed] = answers.map(({ json }) => json.data);
        expect(reversed).toEqual([...first].reverse());
        const audit = (await server.api('GET', '/v1/audit?limit=3')).json.data;
        expect(audit).toEqual(
          answers.map(() =>
            expect.objectContaining({
              action: 'POST /v1/suppressions/batch/add',
              resource_type: 'suppressions',
              after: { data: expect.arrayContaining(first) },
            }),
          ),
        );
        for (const { id } of first) expectStatus(await server.api('DELETE', `/v1/suppressions/${id}`), 204);
      });
    });

    it('404: a suppression of another environment is not found, and has no effect here', async () => {
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const { id } = expectStatus(
        await server.api('POST', '/v1/suppressions', { email: 'theirs@example.org' }, as(key)),
        201,
      ).json;

      expectRefusal(await server.api('GET', `/v1/suppressions/${id}`), 404);
      expectRefusal(await server.api('DELETE', '/v1/suppressions/theirs@example.org'), 404);
      await emailIn(server, await sendEmail(server, { to: 'theirs@example.org' }), 'delivered');
    });

    it('an address that is suppressed when an email is accepted gets nothing; if all are suppressed, so is the email', async () => {
      expectStatus(await server.api('POST', '/v1/suppressions', { email: 'never@example.org' }), 201);

      const partly = await sendEmail(server, { to: ['Never@Example.org', simulated('delivered')] });
      const wholly = await server.api('POST', '/v1/emails', { ...EMAIL, to: 'never@EXAMPLE.org' });

      expect((await emailIn(server, partly, 'delivered')).recipients).toMatchObject([
        { status: 'suppressed' },
        { status: 'delivered' },
      ]);
      expect([wholly.status, wholly.json.status]).toEqual([202, 'suppressed']);
      await eventIn(server, wholly.json.id, 'failed');
      expect((await emailIn(server, wholly.json.id, 'suppressed')).attempts).toEqual([]);
    });

    it('the next attempt skips an address that was suppressed while the email was waiting', async () => {
      const [waits, other] = [simulated('deferred'), 'meanwhile@example.org'];
      const id = await sendEmail(server, { to: [waits, other] });
      await emailAfter(server, id, 1);
      // Simulates that the transport has deferred this recipient, too.
      await sql.rows(
        `update emails set recipients = jsonb_set(recipients, '{1,state}', '"sending"') where id = (select event_id from due_deliveries limit 1)`,
      );
      expectStatus(await server.api('POST', '/v1/suppressions', { email: other }), 201);

      // The delay before the second attempt is random, so the second attempt may have run already.
      const made = (await emailOf(server, id)).attempts.length;
      await makeDue(sql, id);

      expect((await emailAfter(server, id, made + 1)).recipients).toMatchObject([
        { status: 'sending' },
        { status: 'suppressed' },
      ]);
    });
  });

  describe('system events', () => {
    it('email.bounced and email.complained contain the email, its recipient and the diagnostic text', async () => {
      const systemTarget = await listen(server, targets);
      const [bounced, also, complained] = [simulated('bounced'), simulated('bounced'), simulated('complained')];
      const ids = [await sendEmail(server, { to: [bounced, also] }), await sendEmail(server, { to: complained })];
      const bounce = {
        email: ids[0],
        subtype: '5.1.1',
        detail: expect.stringContaining('550 5.1.1'),
        at: expect.any(String),
        count: 1,
      };

      const bounces = await systemTarget.waitFor('email.bounced', (events) => countOf(events) > 1);
      const items = bounces
        .flatMap(({ data }) => data.items)
        .sort((a, b) => (a['recipient'] < b['recipient'] ? -1 : 1));
      expect(items).toEqual([bounced, also].sort().map((recipient) => ({ ...bounce, recipient })));
      expect((await systemTarget.waitFor('email.complained'))[0]?.data.items).toEqual([
        { ...bounce, email: ids[1], recipient: complained, subtype: 'abuse', detail: expect.any(String) },
      ]);
    });
  });

  describe('attachments by URL', () => {
    it('202: the file is fetched when the email is accepted, and attached to the message', async () => {
      const id = await sendEmail(server, {
        attachments: [
          { url: `${filesUrl}/invoice.pdf` },
          { path: `${filesUrl}/x`, filename: 'named.bin', content_type: 'application/x-own' },
          { url: `${filesUrl}/x`, filename: 'named.png' },
          { url: `${filesUrl}/x`, filename: 'unknown' },
        ],
      });

      const { attachments } = await simpleParser(await rawOf(server, id));
      expect(attachments.map(({ filename, contentType, content }) => [filename, contentType, content])).toEqual([
        ['invoice.pdf', 'application/pdf', FILE],
        ['named.bin', 'application/x-own', FILE],
        ['named.png', 'image/png', FILE],
        ['unknown', 'application/pdf', FILE],
      ]);
    });

    it('202: the emails of a batch share 10 MB: an email beyond the limit fails alone', async () => {
      const withFile = (path: string) => ({ ...EMAIL, attachments: [{ filename: 'a', url: filesUrl + path }] });

      const { json } = expectStatus(
        await server.api('POST', '/v1/emails/batch', [withFile('/six'), withFile('/six'), withFile('/x')]),
        202,
      );

      const refused = { id: null, error: { type: 'validation_failed', message: expect.stringMatching(/10 MB/) } };
      expect(json.data.slice(0, 2)).toEqual(expect.arrayContaining([{ id: expect.any(String) }, refused]));
      expect(json.data[2]).toEqual({ id: expect.any(String) });
    });

    it.each([
      ['is gone', '/gone', 'connectivity', /answered 404/],
      ['redirects', '/moved', 'connectivity', /answered 302/],
      ['is larger than 10 MB', '/large', 'schema', /10 MB/],
      ['does not arrive within ten seconds', '/hangs', 'connectivity', /could not be fetched/],
    ] as const)('422: a file that %s', async (_what, path, check, message) => {
      const answer = await server.api('POST', '/v1/emails', {
        ...EMAIL,
        attachments: [{ filename: 'a', url: filesUrl + path }],
      });

      expectInvalid(answer, check, 'attachments.0.url');
      expect(answer.json.error.details.fields[0].message).toMatch(message);
    });
  });
});
