import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { simpleParser } from 'mailparser';
import { Resend } from 'resend';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { emailIn, emailOf, rawOf, SENDER, simulated } from './emailing.js';
import type { Sql } from './scene.js';
import { expectStatus, openSql, uuidOf } from './scene.js';

const UNKNOWN = 'tpl_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const CONTENT = {
  from: SENDER,
  subject: 'Order {{order}}',
  html: '<p>Hello {{name}}</p>',
  text: 'Hello {{name}}',
};

/** Expects 422 with a validation error at each path. Returns the paths of all validation errors. */
const invalidAt = (answer: ApiAnswer, ...paths: string[]): string[] => expectInvalid(answer, 'schema', ...paths);

describe('templates', () => {
  let server: PosthornServer;
  let sql: Sql;

  beforeAll(async () => {
    server = await startServer();
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
  });

  async function created(fields: object = {}): Promise<ApiAnswer['json']> {
    return expectStatus(await server.api('POST', '/v1/templates', { name: 'Order', ...CONTENT, ...fields }), 201).json;
  }

  const publish = async (id: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('POST', `/v1/templates/${id}/publish`), 200).json;

  async function published(fields: object = {}): Promise<string> {
    const { id } = await created(fields);
    await publish(id);
    return id;
  }

  const render = (id: string, body: object = {}): Promise<ApiAnswer> =>
    server.api('POST', `/v1/templates/${id}/render`, body);

  const send = (template: object, fields: object = {}, headers: Record<string, string> = {}): Promise<ApiAnswer> =>
    server.api('POST', '/v1/emails', { to: simulated('delivered'), template, ...fields }, headers);

  const get = async (path: string): Promise<ApiAnswer['json']> =>
    expectStatus(await server.api('GET', `/v1/templates${path}`), 200).json;

  describe('configuration', () => {
    it('201: a new template is a draft in version 1', async () => {
      const variables = [
        { key: 'name', type: 'string', fallback_value: 'you' },
        { key: 'order', type: 'number' },
      ];

      const template = await created({ alias: 'first', reply_to: 'support@example.com', variables });

      expect(template).toEqual({
        id: expect.stringMatching(/^tpl_/),
        name: 'Order',
        alias: 'first',
        status: 'draft',
        version: 1,
        published_version: null,
        has_unpublished_versions: true,
        published_at: null,
        created_at: expect.stringMatching(TIMESTAMP),
        updated_at: expect.stringMatching(TIMESTAMP),
        ...CONTENT,
        reply_to: ['support@example.com'],
        variables: [
          { key: 'name', type: 'string', fallback_value: 'you' },
          { key: 'order', type: 'number', fallback_value: null },
        ],
        unsubscribe: null,
      });
      expect(await get(`/${template.id}`)).toEqual(template);
      expect(await get('/first')).toEqual(template);
    });

    it('201: the same Idempotency-Key creates one template', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const body = { name: 'Once' };

      const [first, second] = [
        await server.api('POST', '/v1/templates', body, headers),
        await server.api('POST', '/v1/templates', body, headers),
      ];

      expect(second.json).toEqual(expectStatus(first, 201).json);
      const { data } = await get('?limit=100');
      expect(data.filter(({ name }: { name: string }) => name === 'Once')).toHaveLength(1);
    });

    it('a changed content is a new version, which is in use after it is published', async () => {
      const id = await published();

      const changed = expectStatus(await server.api('PATCH', `/v1/templates/${id}`, { subject: 'New {{order}}' }), 200);
      const renamed = await server.api('PATCH', `/v1/templates/${id}`, { name: 'Renamed', html: CONTENT.html });

      expect(changed.json).toMatchObject({ version: 2, published_version: 1, has_unpublished_versions: true });
      expect(renamed.json).toMatchObject({ name: 'Renamed', version: 2, status: 'published' });
      const variables = { name: 'Ada', order: 1 };
      const before = expectStatus(await send({ id, variables }), 202).json.id;
      expect(await publish(id)).toMatchObject({ published_version: 2, has_unpublished_versions: false });
      const after = expectStatus(await send({ id, variables }), 202).json.id;
      expect((await emailOf(server, before)).subject).toBe('Order 1');
      expect(await emailOf(server, after)).toMatchObject({ subject: 'New 1', template: { id, version: 2 } });
    });

    it('versions are listed, shown and restored', async () => {
      const id = await published();
      await server.api('PATCH', `/v1/templates/${id}`, { subject: 'second', text: null, reply_to: ['a@b.example'] });

      const { data, next_cursor: cursor } = await get(`/${id}/versions?limit=1`);
      const { data: rest } = await get(`/${id}/versions?limit=1&cursor=${cursor}`);
      const restored = expectStatus(await server.api('POST', `/v1/templates/${id}/restore`, { version: 1 }), 200).json;

      expect(data).toEqual([
        { version: 2, subject: 'second', published: false, created_at: expect.stringMatching(TIMESTAMP) },
      ]);
      expect(rest).toEqual([
        { version: 1, subject: CONTENT.subject, published: true, created_at: expect.stringMatching(TIMESTAMP) },
      ]);
      expect(await get(`/${id}/versions/2`)).toMatchObject({
        subject: 'second',
        text: null,
        reply_to: ['a@b.example'],
      });
      expect(restored).toMatchObject({ ...CONTENT, reply_to: [], version: 3, published_version: 1 });
    });

    it('the newest 100 versions and the published one are kept', async () => {
      const id = await published();
      for (let i = 2; i <= 103; i += 1) await server.api('PATCH', `/v1/templates/${id}`, { subject: `v${i}` });

      const { data } = await get(`/${id}/versions?limit=100`);
      const { data: rest } = await get(
        `/${id}/versions?cursor=${(await get(`/${id}/versions?limit=100`)).next_cursor}`,
      );

      expect([data[0].version, data.at(-1).version]).toEqual([103, 4]);
      expect(rest.map(({ version }: { version: number }) => version)).toEqual([1]);
    });

    it('201: a copy has the latest content, no alias, and is a draft', async () => {
      const { id } = await created({ alias: 'copied' });
      await publish(id);
      await server.api('PATCH', `/v1/templates/${id}`, { subject: 'latest' });

      const copy = expectStatus(await server.api('POST', '/v1/templates/copied/duplicate'), 201).json;

      expect(copy).toMatchObject({ name: 'Order (copy)', alias: null, status: 'draft', version: 1, subject: 'latest' });
      expect(copy.id).not.toBe(id);
    });

    it('204, then 404: a deleted template is gone, and emails keep their content', async () => {
      const id = await published({ alias: 'short-lived' });
      const email = expectStatus(await send({ id, variables: { name: 'Ada', order: 1 } }), 202).json.id;

      expectStatus(await server.api('DELETE', `/v1/templates/${id}`), 204);

      for (const [method, path] of [
        ['DELETE', `/v1/templates/${id}`],
        ['GET', '/v1/templates/short-lived'],
        ['GET', `/v1/templates/${id}/versions`],
        ['POST', `/v1/templates/${id}/publish`],
      ] as const)
        expectRefusal(await server.api(method, path), 404);
      expect(await emailIn(server, email, 'delivered')).toMatchObject({ template: { id, version: 1 } });
      expect(await sql.rows('select from template_versions where template_id = $1', [uuidOf(id)])).toEqual([]);
      await created({ alias: 'short-lived' });
    });

    it('409: an alias belongs to one template of an environment', async () => {
      const [first, second] = [await created({ alias: 'taken' }), await created()];

      expectRefusal(await server.api('POST', '/v1/templates', { name: 'B', alias: 'taken' }), 409);
      expectRefusal(await server.api('PATCH', `/v1/templates/${second.id}`, { alias: 'taken' }), 409);
      expectStatus(await server.api('PATCH', `/v1/templates/${first.id}`, { alias: 'taken' }), 200);
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      expectStatus(await server.api('POST', '/v1/templates', { name: 'B', alias: 'taken' }, as(key)), 201);
      expectStatus(await server.api('PATCH', `/v1/templates/${first.id}`, { alias: null }), 200);
      expectStatus(await server.api('PATCH', `/v1/templates/${second.id}`, { alias: 'taken' }), 200);
    });

    it('200 and 201: concurrent copies and changes of the alias of one template wait for each other', async () => {
      const { id } = await created({ alias: 'busy' });

      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          i % 2 === 0
            ? server.api('POST', `/v1/templates/${id}/duplicate`)
            : server.api('PATCH', `/v1/templates/${id}`, { alias: `busy-${i}` }),
        ),
      );

      expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i % 2 === 0 ? 201 : 200)));
    });

    it('409: concurrent creations with one alias make one template', async () => {
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => server.api('POST', '/v1/templates', { name: 'A', alias: 'raced' })),
      );

      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    });

    it.each<[string, object, string]>([
      ['no name', { name: undefined }, 'name'],
      ['an alias like an id', { alias: UNKNOWN }, 'alias'],
      ['an alias with a slash', { alias: 'a/b' }, 'alias'],
      ['a sender without an address', { from: 'nobody' }, 'from'],
      ['a sender with variables', { from: '{{name}} <{{address}}>' }, 'from'],
      ['a sender with a line break', { from: 'A\r\nBcc: b@c.example <a@b.example>' }, 'from'],
      ['a reply address without an address', { reply_to: ['a@b.example', 'nobody'] }, 'reply_to.1'],
      ['a subject with a line break', { subject: 'a\nBcc: b@c.example' }, 'subject'],
      ['a body over 512 KB', { html: 'ä'.repeat(256 * 1024 + 1) }, 'html'],
      ['a tag that does not end', { html: 'Hello {{name' }, 'html'],
      ['a partial', { text: '{{> header}}' }, 'text'],
      ['changed delimiters', { subject: '{{=<% %>=}}' }, 'subject'],
      ['an open section', { html: '{{#a}}' }, 'html'],
      ['half of a surrogate pair', { text: '\ud800' }, 'text'],
      ['a key that is no name', { variables: [{ key: 'a b', type: 'string' }] }, 'variables.0.key'],
      [
        'a key twice',
        {
          variables: [
            { key: 'a', type: 'string' },
            { key: 'a', type: 'list' },
          ],
        },
        'variables.1.key',
      ],
      [
        'the placeholder of the unsubscribe link as a variable',
        { variables: [{ key: 'unsubscribe_url', type: 'string' }] },
        'variables.0.key',
      ],
      ['an unknown type', { variables: [{ key: 'a', type: 'date' }] }, 'variables.0.type'],
      [
        'a fallback of another type',
        { variables: [{ key: 'a', type: 'number', fallback_value: '1' }] },
        'variables.0.fallback_value',
      ],
      [
        'too many variables',
        { variables: Array.from({ length: 51 }, (_, i) => ({ key: `a${i}`, type: 'string' })) },
        'variables',
      ],
      ['an unknown field', { subjekt: 'a' }, 'subjekt'],
    ])('422: %s', async (_, fields, path) => {
      invalidAt(await server.api('POST', '/v1/templates', { name: 'Order', ...fields }), path);
    });

    it('422: a template without html and text cannot be published', async () => {
      const { id } = await created({ html: null, text: null });

      invalidAt(await server.api('POST', `/v1/templates/${id}/publish`), 'html');
    });

    it('200: null in variables and in version is the same as no value, and null removes all variables', async () => {
      const { id } = await created();

      const whole = expectStatus(await render(id), 200).json;
      expect(expectStatus(await render(id, { variables: null, version: null }), 200).json).toEqual(whole);
      const changed = expectStatus(await server.api('PATCH', `/v1/templates/${id}`, { variables: null }), 200).json;

      expect(changed.variables).toEqual([]);
    });

    it('400: a version is a number', async () => {
      const { id } = await created();

      for (const version of ['0', 'x', '1e3', '99999999999'])
        expectRefusal(await server.api('GET', `/v1/templates/${id}/versions/${version}`), 400);
      expectRefusal(await server.api('GET', `/v1/templates/${id}/versions/7`), 404);
      expectRefusal(await server.api('POST', `/v1/templates/${id}/restore`, { version: 7 }), 404);
    });
  });

  describe('rendering', () => {
    it('200: variables are filled in, and missing and unused ones are listed', async () => {
      const { id } = await created({
        variables: [
          { key: 'name', type: 'string', fallback_value: 'you' },
          { key: 'needed', type: 'string' },
        ],
      });

      const { json } = await render(id, { variables: { name: '<b>', extra: 1 } });

      expect(json).toEqual({
        version: 1,
        subject: 'Order {{order}}',
        html: '<p>Hello &lt;b&gt;</p>',
        text: 'Hello <b>',
        missing_variables: ['needed', 'order'],
        unused_variables: ['extra'],
      });
      expect((await render(id)).json.html).toBe('<p>Hello you</p>');
    });

    it('200: renders an earlier version, and needs only the scope read', async () => {
      const { id } = await created();
      await server.api('PATCH', `/v1/templates/${id}`, { html: 'second' });
      const { key } = await createKey(server, { scope: 'read' });

      const { json } = await server.api('POST', `/v1/templates/${id}/render`, { version: 1 }, as(key));

      expect(json).toMatchObject({ version: 1, html: '<p>Hello {{name}}</p>' });
    });

    it('422: lists that multiply', async () => {
      const { id } = await created({ html: `${'{{#l}}'.repeat(8)}x${'{{/l}}'.repeat(8)}` });

      invalidAt(await render(id, { variables: { l: Array(100).fill(1) } }), 'variables');
    });

    it('422: variables of other types, and a subject of two lines', async () => {
      const { id } = await created({
        variables: [
          { key: 'name', type: 'string' },
          { key: 'order', type: 'number' },
        ],
      });

      invalidAt(await render(id, { variables: { name: 1 } }), 'variables.name');
      invalidAt(await render(id, { variables: { order: '1' } }), 'variables.order');
      const other = await created();
      invalidAt(await render(other.id, { variables: { order: 'a\r\nBcc: b@c.example' } }), 'subject');
      invalidAt(await render(other.id, { variables: { name: { a: 1 } } }), 'variables.name');
    });

    it('200: fields of prototypes are no variables', async () => {
      const { id } = await created({ html: '{{constructor}}{{__proto__}}{{name.constructor}}{{toString}}' });

      const { json } = await render(id, { variables: { name: 'a', order: 1 } });

      expect(json.missing_variables).toEqual(['constructor', '__proto__', 'name.constructor', 'toString']);
    });
  });

  describe('sending', () => {
    it('202: the email has the content of the published template, and names it', async () => {
      const id = await published({ alias: 'sent', reply_to: ['support@example.com'] });

      const answer = expectStatus(await send({ id: 'sent', variables: { name: 'A & B', order: 7 } }), 202);

      const email = await emailIn(server, answer.json.id, 'delivered');
      expect(email).toMatchObject({
        from: SENDER,
        subject: 'Order 7',
        reply_to: ['support@example.com'],
        template: { id, version: 1 },
      });
      const message = await simpleParser(await rawOf(server, answer.json.id));
      expect([message.html, message.text?.trim()]).toEqual([
        expect.stringContaining('<p>Hello A &amp; B</p>'),
        'Hello A & B',
      ]);
    });

    it("202: the email's own from, subject and reply_to replace those of the template", async () => {
      const id = await published({ reply_to: 'support@example.com' });
      const own = { from: 'Other <other@simulator.localhost>', subject: 'Own {{order}}', replyTo: 'me@example.com' };

      const { json } = expectStatus(await send({ id, variables: { name: 'A', order: 1 } }, own), 202);

      expect(await emailOf(server, json.id)).toMatchObject({
        from: own.from,
        subject: own.subject,
        reply_to: [own.replyTo],
      });
    });

    it("202: the placeholder of the unsubscribe link becomes the recipient's link", async () => {
      const placeholder = '{{unsubscribe_url}} {{{RESEND_UNSUBSCRIBE_URL}}}';
      const id = await published({ html: `<p>{{name}} ${placeholder}</p>`, text: `{{name}} ${placeholder}` });
      const variables = { name: 'Ada', order: 1 };

      const { json } = expectStatus(await send({ id, variables }, { unsubscribe: true }), 202);

      const message = await simpleParser(await rawOf(server, json.id));
      const url = `${server.url}/u/[^ <]+`;
      expect(message.html).toMatch(new RegExp(`<p>Ada (${url}) \\1</p>`));
      expect(message.text).toMatch(new RegExp(`^Ada (${url}) \\1\\s*$`));
      expect((await render(id, { variables })).json).toMatchObject({
        text: 'Ada {{{unsubscribe_url}}} {{{RESEND_UNSUBSCRIBE_URL}}}',
        missing_variables: [],
      });
    });

    describe('with unsubscribe', () => {
      const variables = { name: 'Ada', order: 1 };

      async function topic(): Promise<{ id: string; key: string }> {
        const body = { name: 'News', key: `t-${randomUUID()}`, default_subscription: 'opt_in' };
        return expectStatus(await server.api('POST', '/v1/topics', body), 201).json;
      }

      /**
       * Sends an email with the template. Returns the topic of its unsubscribe link, `all` if the link belongs to no
       * topic, or null if the email has no link.
       */
      async function linked(id: string, fields: object = {}): Promise<string | null> {
        const { json } = expectStatus(await send({ id, variables }, fields), 202);
        const [, url] =
          /^List-Unsubscribe: ?<([^>]+)>/m.exec((await rawOf(server, json.id)).replace(/\r\n /g, '')) ?? [];
        if (url === undefined) return null;
        const page = await (await fetch(url, { headers: { 'accept-language': 'en' } })).text();
        return page.includes('News') ? 'News' : 'all';
      }

      it('202: emails get a link to unsubscribe from the topic, from the published version on', async () => {
        const { id: topicId, key } = await topic();
        const id = await published({ text: 'Stop: {{unsubscribe_url}}', html: null });

        const changed = await server.api('PATCH', `/v1/templates/${id}`, { unsubscribe: { topic: key } });
        const before = await linked(id);
        await publish(id);
        const after = await linked(id);
        await server.api('PATCH', `/v1/templates/${id}`, { unsubscribe: { topic: topicId } });
        await publish(id);
        const { json } = expectStatus(await send({ id, variables }), 202);

        expect(expectStatus(changed, 200).json).toMatchObject({ version: 2, unsubscribe: { topic: key } });
        expect([before, after]).toEqual([null, 'News']);
        expect(await rawOf(server, json.id)).toMatch(/^Stop: http/m);
        expect(await get(`/${id}/versions/1`)).toMatchObject({ unsubscribe: null });
        expect(await get(`/${id}/versions/3`)).toMatchObject({ unsubscribe: { topic: topicId } });
      });

      it("202: the email's own unsubscribe, topic or header replaces that of the template", async () => {
        const { key } = await topic();
        const id = await published({ unsubscribe: { topic: key } });
        const all = await published({ unsubscribe: true });

        expect(await linked(id)).toBe('News');
        expect(await linked(id, { unsubscribe: true })).toBe('all');
        expect(await linked(id, { headers: { 'X-UNSUBSCRIBE': 'true' } })).toBe('all');
        expect(await linked(id, { unsubscribe: false })).toBeNull();
        expect(await linked(all)).toBe('all');
        expect(await linked(all, { topic_id: key })).toBe('News');
        expect(await linked(all, { topicId: key })).toBe('News');
        expect(await linked(all, { headers: { 'x-unsubscribe-topic': key } })).toBe('News');
      });

      it('200: a copy and a restored version keep the setting; false and null remove it', async () => {
        const id = await published({ unsubscribe: true });
        const { json: copy } = await server.api('POST', `/v1/templates/${id}/duplicate`);

        const patch = async (unsubscribe: unknown): Promise<unknown> =>
          expectStatus(await server.api('PATCH', `/v1/templates/${id}`, { unsubscribe }), 200).json.unsubscribe;
        const removed = [await patch(false), await patch(true), await patch(null)];
        const restored = await server.api('POST', `/v1/templates/${id}/restore`, { version: 1 });

        expect(copy.unsubscribe).toBe(true);
        expect(removed).toEqual([null, true, null]);
        expect(restored.json).toMatchObject({ version: 5, unsubscribe: true });
      });

      it('422: several recipients, and a topic that does not exist', async () => {
        const { id: topicId, key } = await topic();
        const id = await published({ unsubscribe: { topic: key } });
        const unknown = { unsubscribe: { topic: 'unknown' } };

        invalidAt(await send({ id, variables }, { cc: simulated('bounced') }), 'unsubscribe');
        invalidAt(await server.api('POST', '/v1/templates', { name: 'a', ...unknown }), 'unsubscribe.topic');
        invalidAt(await server.api('PATCH', `/v1/templates/${id}`, unknown), 'unsubscribe.topic');
        for (const unsubscribe of ['all', { topic: '' }, { topic: 'a'.repeat(65) }, { topic: key, other: 1 }, [true]])
          expect(invalidAt(await server.api('PATCH', `/v1/templates/${id}`, { unsubscribe }))[0]).toMatch(
            /^unsubscribe/,
          );
        expectStatus(await server.api('DELETE', `/v1/topics/${topicId}`), 204);
        invalidAt(await send({ id, variables }), 'unsubscribe.topic');
        expectStatus(await server.api('PATCH', `/v1/templates/${id}`, { subject: 'Other' }), 200);
      });

      it('422: a topic of another environment', async () => {
        const { key } = await topic();
        const { key: apiKey } = await createKey(server, { scope: 'write', environment: 'test' });

        const answer = await server.api(
          'POST',
          '/v1/templates',
          { name: 'a', unsubscribe: { topic: key } },
          as(apiKey),
        );

        invalidAt(answer, 'unsubscribe.topic');
      });
    });

    it('202: without a template, the field is null', async () => {
      const { json } = await server.api('POST', '/v1/emails', {
        from: SENDER,
        to: simulated('delivered'),
        subject: 'a',
        text: 'b',
      });

      expect((await emailOf(server, json.id)).template).toBeNull();
    });

    it('202: a scheduled email is rendered when it is accepted', async () => {
      const id = await published();
      const { json } = expectStatus(
        await send({ id, variables: { name: 'A', order: 1 } }, { scheduled_at: 'in 1 hour' }),
        202,
      );

      await server.api('DELETE', `/v1/templates/${id}`);
      expect(await emailOf(server, json.id)).toMatchObject({
        status: 'scheduled',
        subject: 'Order 1',
        template: { id, version: 1 },
      });
      await sql.rows('update scheduled_emails set due_at = now(), try_at = now() where id = $1', [uuidOf(json.id)]);
      expect(await emailIn(server, json.id, 'delivered')).toMatchObject({
        subject: 'Order 1',
        template: { id, version: 1 },
      });
    });

    it('202: each email of a batch has its own variables, and a missing one affects no other', async () => {
      const id = await published();
      const emails = [{ name: 'A', order: 1 }, { name: 'B' }, { name: 'C', order: 3 }].map((variables) => ({
        to: simulated('delivered'),
        template: { id, variables },
      }));

      const { data } = expectStatus(await server.api('POST', '/v1/emails/batch', { emails }), 202).json;

      expect(data).toEqual([
        { id: expect.stringMatching(/^evt_/) },
        {
          id: null,
          error: { type: 'validation_failed', message: expect.stringContaining('template.variables.order') },
        },
        { id: expect.stringMatching(/^evt_/) },
      ]);
      expect((await emailOf(server, data[2].id)).subject).toBe('Order 3');
    });

    it('202: the same Idempotency-Key sends once, also after the template changed', async () => {
      const id = await published();
      const headers = { 'idempotency-key': randomUUID() };
      const fields = { to: simulated('delivered') };
      const template = { id, variables: { name: 'A', order: 1 } };

      const first = expectStatus(await send(template, fields, headers), 202);
      await server.api('DELETE', `/v1/templates/${id}`);

      expect((await send(template, fields, headers)).json).toEqual(first.json);
    });

    it('422: a missing variable, with its name', async () => {
      const id = await published({ variables: [{ key: 'unused', type: 'string' }] });

      const answer = await send({ id, variables: { order: 1, name: null } });

      invalidAt(answer, 'template.variables.unused');
      expect(answer.json.error.details.fields.map(({ path }: { path: string }) => path)).toEqual([
        'template.variables.unused',
        'template.variables.name',
      ]);
    });

    it('422: a missing field of a list, with the list and the index; a missing variable, without them', async () => {
      const id = await published({
        html: '{{#orders}}{{customer.name}}{{shop}}{{/orders}}',
        variables: [{ key: 'shop', type: 'string' }],
      });
      const orders = [{ customer: { name: 'Ada' } }, { customer: {} }];

      const answer = await send({ id, variables: { name: 'A', order: 1, orders } });

      expect(invalidAt(answer).sort()).toEqual([
        'template.variables.orders[1].customer.name',
        'template.variables.shop',
      ]);
    });

    it.each<[string, object, string]>([
      ['html beside the template', { html: '<p>a</p>' }, 'html'],
      ['text beside the template', { text: 'a' }, 'text'],
      [
        'a line break in the subject',
        { template: { variables: { name: 'a', order: 'a\r\nBcc: evil@example.com' } } },
        'subject',
      ],
      [
        'a list where a text must be',
        { template: { variables: { name: ['a'], order: 1 } } },
        'template.variables.name',
      ],
      [
        'variables over 256 KB',
        { template: { variables: { name: 'a'.repeat(262_144), order: 1 } } },
        'template.variables.name',
      ],
      ['variables that are a list', { template: { variables: ['a'] } }, 'template.variables'],
    ])('422: %s', async (_, fields, path) => {
      const { template, ...own } = fields as { template?: object };
      const id = await published();

      invalidAt(await send({ id, variables: { name: 'a', order: 1 }, ...template }, own), path);
    });

    it('422: a template that renders no content for the variables', async () => {
      const id = await published({ html: '{{#name}}Hello{{/name}} ', text: '{{name}}' });

      invalidAt(await send({ id, variables: { name: '', order: 1 } }), 'text');
    });

    it('422: an unknown template, one of another environment, and one that is not published', async () => {
      const { id } = await created();
      const { key } = await createKey(server, { scope: 'admin', environment: 'test' });
      const live = await published({ alias: 'only-live' });

      for (const unknown of [UNKNOWN, 'nothing', id]) invalidAt(await send({ id: unknown }), 'template.id');
      for (const foreign of [live, 'only-live']) invalidAt(await send({ id: foreign }, {}, as(key)), 'template.id');
      invalidAt(await send({}), 'template.id');
    });

    it('422: the faults of the template and of the other fields together', async () => {
      const answer = await send({ id: await published(), variables: {} }, { to: 'nobody', html: 'a' });

      expect(invalidAt(answer).sort()).toEqual(['html', 'template.variables.name', 'template.variables.order', 'to']);
    });

    it('422: a template without a sender, and an email without one', async () => {
      const id = await published({ from: null, subject: null });

      const { json } = await send({ id, variables: { name: 'a' } });

      expect(json.error.details.fields.map(({ path }: { path: string }) => path).sort()).toEqual(['from', 'subject']);
    });

    it('202: a template of React Email works as it is pasted', async () => {
      const html = readFileSync('test/vectors/react-email/order.html', 'utf8');
      const id = await published({ html, text: null });
      const variables = {
        name: `O'Hara & "Söhne"`,
        order: 4711,
        link: 'https://example.com/?a=1&b=2',
        lines: [
          { title: '<b>', count: 2 },
          { title: 'Lamp', count: 1 },
        ],
        note: '<i>Fragile</i>',
      };

      const { json } = expectStatus(await send({ id, variables }), 202);

      const message = await simpleParser(await rawOf(server, json.id));
      expect(message.html).toContain('Hello <!-- -->O&#39;Hara &amp; &quot;Söhne&quot;<!-- -->!');
      expect(message.html).toContain('Thank you for &quot;order&quot; <!-- -->4711<!-- -->, it&#x27;s on its way.');
      expect(message.html).toMatch(/2<!-- --> × <!-- -->&lt;b&gt;.*1<!-- --> × <!-- -->Lamp/s);
      expect(message.html).toContain('<i>Fragile</i>');
      expect(message.html).toContain('href="https://example.com/?a=1&amp;b=2"');
      expect(message.html).toContain('<!--[if mso]>');
      expect(message.html).not.toMatch(/\{\{|Nothing/);
    });
  });

  it('the resend package creates, publishes, changes, copies, lists and sends templates', async () => {
    const resend = new Resend(server.apiKey, { baseUrl: `${server.url}/v1` });

    const made = await resend.templates
      .create({
        name: 'From Resend',
        alias: 'from-resend',
        from: SENDER,
        subject: 'Hello {{{NAME}}}',
        html: '<p>Hello {{{NAME}}}</p>',
        replyTo: ['support@example.com'],
        variables: [{ key: 'NAME', type: 'string', fallbackValue: 'you' }],
      })
      .publish();
    const id = made.data?.id as string;
    const changed = await resend.templates.update('from-resend', { name: 'Changed' });
    const copy = await resend.templates.duplicate(id);
    const listed = await resend.templates.list({ limit: 2 });
    const one = await resend.templates.get('from-resend');
    const sent = await resend.emails.send({ to: simulated('delivered'), template: { id, variables: { NAME: 'Ada' } } });
    const after = await resend.templates.list({ after: id });
    const removed = await resend.templates.remove(copy.data?.id as string);

    expect([made.error, changed.error, copy.error, listed.error, one.error, sent.error]).toEqual(Array(6).fill(null));
    expect(one.data).toMatchObject({
      id,
      name: 'Changed',
      status: 'published',
      reply_to: ['support@example.com'],
      variables: [{ key: 'NAME', type: 'string', fallback_value: 'you' }],
    });
    expect(listed.data?.data.map((template) => template.id)).toEqual([copy.data?.id, id]);
    expect((await emailOf(server, sent.data?.id as string)).subject).toBe('Hello Ada');
    expect([after.error, removed.error]).toMatchObject([
      { error: { type: 'bad_request' } },
      { name: 'application_error' },
    ]);
    expectRefusal(await server.api('GET', `/v1/templates/${copy.data?.id}`), 404);
  });
});
