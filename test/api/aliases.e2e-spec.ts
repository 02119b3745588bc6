import { type PosthornServer, startServer } from '../support/server.js';
import { as, createKey, expectInvalid, expectRefusal, TIMESTAMP } from './answers.js';
import { until } from './polling.js';
import { destinationAt, expectStatus, openSql, type Sql, startTargets, type Targets, uuidOf } from './scene.js';
import { createAlias } from './smtp-client.js';

const PLATFORM = 'posthorn.example';

describe('/v1/aliases', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;
  let testKey: string;
  let destination: string;
  let domain: string;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer({ PLATFORM_DOMAIN: PLATFORM }), startTargets()]);
    sql = openSql(server);
    testKey = (await createKey(server, { scope: 'admin', environment: 'test' })).key;
    destination = await destinationAt(server, targets.open().url);
    domain = await receivingDomain('mail.customer.example');
  });

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  /** Creates a domain in the state after a successful check: verified, and able to receive email. Returns its id. */
  async function receivingDomain(host: string, kind = 'email'): Promise<string> {
    const { id } = expectStatus(
      await server.api('POST', '/v1/domains', { domain: host, kind, acknowledge_mx_conflict: true }),
      201,
    ).json;
    await sql.rows(
      `update domains set state = 'verified', is_owner = true, sending_enabled = true, receiving_enabled = $2, next_check_at = now() + interval '1 day' where id = $1`,
      [uuidOf(id), kind === 'email'],
    );
    return id as string;
  }

  it('201: the server computes the address of a platform alias with the slug of the organization', async () => {
    const body = {
      kind: 'platform',
      localPart: 'In.Voices',
      destinationIds: [destination],
      allowedSenders: ['Anna@Example.org', '@example.com', '*.example.net'],
      maxSizeBytes: 2048,
    };
    const answer = expectStatus(await server.api('POST', '/v1/aliases', body), 201);

    expect(answer.json).toEqual({
      id: expect.stringMatching(/^al_/),
      address: `in.voices.default@${PLATFORM}`,
      kind: 'platform',
      localPart: 'in.voices',
      domain: PLATFORM,
      destinationIds: [destination],
      routes: [{ destination, filter: null }],
      allowedSenders: ['anna@example.org', '@example.com', '*.example.net'],
      maxSizeBytes: 2048,
      forward_to: [],
      forward_addresses: [],
      auto_reply: null,
      link_ttl_seconds: null,
      createdAt: expect.stringMatching(TIMESTAMP),
    });
    expect((await server.api('GET', `/v1/aliases/${answer.json.id}`)).json).toEqual(answer.json);
    expect(
      (await server.api('GET', `/v1/aliases/${encodeURIComponent('In.Voices.DEFAULT@Posthorn.example')}`)).json,
    ).toEqual(answer.json);
  });

  it('201: a custom alias uses a verified domain of the organization, also as a catch-all', async () => {
    const exact = await createAlias(server, { kind: 'custom', domainId: domain, localPart: 'support' });
    const all = await createAlias(server, { kind: 'custom', domainId: domain, localPart: '*' });

    expect([exact.address, all.address]).toEqual(['support@mail.customer.example', '*@mail.customer.example']);
  });

  it.each([
    'postmaster',
    'Abuse',
    'mailer-daemon',
    'bounces',
    'a..b',
    'a b',
    'a+b',
    'a*',
    'a+*',
    'ü',
    '',
    '*',
    'x'.repeat(65),
    'x'.repeat(60),
  ])('400: %j is rejected as the local part of a platform alias', async (localPart) => {
    expectRefusal(await server.api('POST', '/v1/aliases', { kind: 'platform', localPart }), 400);
  });

  it('409: an address is unique in the organization, across both of its environments', async () => {
    const { localPart } = await createAlias(server);

    expectRefusal(
      await server.api('POST', '/v1/aliases', { kind: 'platform', localPart: localPart.toUpperCase() }),
      409,
    );
    expectRefusal(await server.api('POST', '/v1/aliases', { kind: 'platform', localPart }, as(testKey)), 409);
  });

  it('201: of many concurrent requests for one address, exactly one succeeds', async () => {
    const asked = await Promise.all(
      Array.from({ length: 8 }, () => server.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'at-once' })),
    );

    expect(asked.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  it('422: the domain does not receive, does not exist or is foreign; the destinations or senders are invalid', async () => {
    const sending = await receivingDomain('send.customer.example', 'email-send');
    const pending = expectStatus(
      await server.api('POST', '/v1/domains', {
        domain: 'later.customer.example',
        kind: 'email',
        acknowledge_mx_conflict: true,
      }),
      201,
    ).json.id;
    const custom = (domainId?: string, headers = {}) =>
      server.api('POST', '/v1/aliases', { kind: 'custom', localPart: 'x', ...(domainId && { domainId }) }, headers);

    for (const answer of [
      await custom(sending),
      await custom(pending),
      await custom('dom_nonsense'),
      await custom(),
      await custom(domain, as(testKey)),
    ])
      expectInvalid(answer, 'schema', 'domainId');
    expectInvalid(
      await server.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'x', domainId: domain }),
      'schema',
      'domainId',
    );
    expectInvalid(
      await server.api('POST', '/v1/aliases', {
        kind: 'platform',
        localPart: 'x',
        destinationIds: [destination, 'dst_x'],
        allowedSenders: ['a@b.example', 'nobody'],
      }),
      'schema',
      'destinationIds.1',
      'allowedSenders.1',
    );
    expectInvalid(
      await server.api(
        'POST',
        '/v1/aliases',
        { kind: 'platform', localPart: 'x', destinationIds: [destination] },
        as(testKey),
      ),
      'schema',
      'destinationIds.0',
    );
    expectInvalid(
      await server.api('POST', '/v1/aliases', { kind: 'platform', localPart: 'x', maxSizeBytes: 10 }),
      'schema',
      'maxSizeBytes',
    );
  });

  it('200: PATCH keeps omitted fields and null clears a field; 422 for every part of the address', async () => {
    const { id, address } = await createAlias(server, {
      destinationIds: [destination],
      allowedSenders: ['@example.org'],
      maxSizeBytes: 4096,
    });

    const changed = expectStatus(
      await server.api('PATCH', `/v1/aliases/${encodeURIComponent(address)}`, {
        maxSizeBytes: null,
        allowedSenders: [],
      }),
      200,
    );
    expect(changed.json).toMatchObject({ id, destinationIds: [destination], allowedSenders: [], maxSizeBytes: null });
    for (const [field, value] of Object.entries({
      kind: 'custom',
      localPart: 'other',
      domainId: domain,
      address: 'a@b.example',
      domain: 'b.example',
    })) {
      expectInvalid(await server.api('PATCH', `/v1/aliases/${id}`, { [field]: value }), 'schema', field);
    }
  });

  it('204, then 404: a deleted alias is not listed, and its address is free again', async () => {
    const { id, address, localPart } = await createAlias(server);

    expectStatus(await server.api('DELETE', `/v1/aliases/${encodeURIComponent(address)}`), 204);
    for (const [method, path] of [
      ['GET', id],
      ['DELETE', id],
      ['GET', encodeURIComponent(address)],
    ] as const)
      expectRefusal(await server.api(method, `/v1/aliases/${path}`), 404);
    const again = await createAlias(server, { localPart });
    expect([again.address, again.id === id]).toEqual([address, false]);
    const listed = (await server.api('GET', '/v1/aliases?limit=100')).json.data.map((each: { id: string }) => each.id);
    expect([listed.includes(again.id), listed.includes(id)]).toEqual([true, false]);
  });

  it("404: another environment's alias is not found by its id or its address", async () => {
    const { id, address } = await createAlias(server);

    for (const text of [id, encodeURIComponent(address)]) {
      expectRefusal(await server.api('GET', `/v1/aliases/${text}`, undefined, as(testKey)), 404);
      expectRefusal(await server.api('PATCH', `/v1/aliases/${text}`, { maxSizeBytes: null }, as(testKey)), 404);
      expectRefusal(await server.api('DELETE', `/v1/aliases/${text}`, undefined, as(testKey)), 404);
    }
    expect((await server.api('GET', '/v1/aliases', undefined, as(testKey))).json).toEqual({
      data: [],
      next_cursor: null,
    });
  });

  it('200: the list is paginated without gaps, newest first', async () => {
    const made = [await createAlias(server), await createAlias(server), await createAlias(server)]
      .map(({ id }) => id)
      .reverse();

    const first = (await server.api('GET', '/v1/aliases?limit=2')).json;
    const second = (await server.api('GET', `/v1/aliases?limit=2&cursor=${first.next_cursor}`)).json;
    expect([...first.data, ...second.data].map((each: { id: string }) => each.id).slice(0, 3)).toEqual(made);
  });

  it('409: a domain with aliases cannot be converted or deleted, nor can a destination of an alias be deleted', async () => {
    const used = await receivingDomain('used.customer.example');
    const lonely = await destinationAt(server, targets.open().url);
    const { id } = await createAlias(server, {
      kind: 'custom',
      domainId: used,
      localPart: 'x',
      destinationIds: [lonely],
    });

    for (const answer of [
      await server.api('PATCH', `/v1/domains/${used}`, { kind: 'email-send' }),
      await server.api('DELETE', `/v1/domains/${used}`),
    ]) {
      expectRefusal(answer, 409);
      expect(answer.json.error.details.used_by).toEqual([id]);
    }
    expectRefusal(await server.api('DELETE', `/v1/destinations/${lonely}`), 409);
    expectStatus(await server.api('DELETE', `/v1/aliases/${id}`), 204);
    expectStatus(await server.api('PATCH', `/v1/domains/${used}`, { kind: 'email-send' }), 200);
    expectStatus(await server.api('DELETE', `/v1/destinations/${lonely}`), 204);
  });

  it('an address stays the same when the slug of the organization changes; new aliases use the new slug', async () => {
    const before = await createAlias(server);
    expectStatus(await server.api('PATCH', '/v1/org', { slug: 'renamed' }), 200);

    const after = await createAlias(server);
    expect([(await server.api('GET', `/v1/aliases/${before.id}`)).json.address, after.address]).toEqual([
      `${before.localPart}.default@${PLATFORM}`,
      `${after.localPart}.renamed@${PLATFORM}`,
    ]);
    expectStatus(await server.api('PATCH', '/v1/org', { slug: 'default' }), 200);
  });

  it.each(['live', 'test'])(
    'with EMAIL_TRANSPORT=capture:, email from the %s environment to an alias of the installation is received there, byte for byte',
    async (mode) => {
      const headers: Record<string, string> = mode === 'test' ? as(testKey) : {};
      const localPart = `loop-${mode}`;
      const alias = expectStatus(
        await server.api('POST', '/v1/aliases', { kind: 'platform', localPart }, headers),
        201,
      ).json;
      const email = {
        from: `Shop <shop@simulator.${PLATFORM}>`,
        to: [alias.address, 'somebody@else.example'],
        subject: 'Round and round',
        text: 'Hello',
      };

      const { id } = expectStatus(await server.api('POST', '/v1/emails', email, headers), 202).json;
      const [row] = await until(
        () =>
          sql.rows<{ raw: Buffer; client_ip: string }>(
            'select raw, client_ip from inbox_messages where alias_id = $1',
            [uuidOf(alias.id)],
          ),
        (rows) => rows.length > 0,
      );
      expect(row?.client_ip).toBe('127.0.0.1');
      expect(row?.raw.toString()).toBe((await server.api('GET', `/v1/emails/${id}/raw`, undefined, headers)).text);
      const sent = await until(
        async () => (await server.api('GET', `/v1/emails/${id}`, undefined, headers)).json,
        ({ status }) => status === 'delivered',
      );
      expect(sent.recipients.map(({ status }: { status: string }) => status)).toEqual(['delivered', 'delivered']);
    },
  );
});
