import { createHmac, randomUUID } from 'node:crypto';
import { connectAgent } from '../api/agent.js';
import { createKey, expectInvalid, expectRefusal } from '../api/answers.js';
import { emailIn, rawOf, sendEmail } from '../api/emailing.js';
import { until } from '../api/polling.js';
import { verifyDomain } from '../api/relay.js';
import { destinationAt, expectStatus, openSql, send, type Sql, startTargets, type Targets } from '../api/scene.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { compileSample, COMPLETE_SAMPLE } from './sample.js';

/** Tests the sample posthorn-depot, which uses every extension point of docs/extending.md as a new team would. */
describe('an extension that uses every extension point', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    targets = await startTargets();
    server = await startServer({
      EXTENSIONS: compileSample(COMPLETE_SAMPLE).file,
      EMAIL_TRANSPORT: 'extension:depot',
      BLOB_STORE: 'extension:depot',
      PLATFORM_DOMAIN: 'posthorn.example',
    });
    sql = openSql(server);
  }, 180_000);

  afterAll(async () => {
    await sql?.close();
    await server?.stop();
    await targets?.close();
  });

  const parcel = (fields: object = {}): Record<string, unknown> => ({
    order_id: randomUUID(),
    recipient: 'ada@example.com',
    pickup: '2026-12-01',
    weight: 2.5,
    delivery: 'home',
    postal_code: '10178',
    ...fields,
  });
  const create = (fields: object = {}, headers = {}): Promise<ApiAnswer> =>
    server.api('POST', '/v1/depot/parcels', parcel(fields), headers);
  const tally = async (): Promise<{ parcels: number; records: string[] }> =>
    expectStatus(await server.api('GET', '/v1/depot/tally'), 200).json;
  const recorded = (record: string): Promise<unknown> =>
    until(tally, ({ records }) => records.some((each) => each.startsWith(record)));

  describe('routes whose DTOs have the decorators of a tutorial', () => {
    it('201: valid values, with conditions and nested lists', async () => {
      const order = randomUUID();

      const answers = [
        await create({ order_id: order, items: [{ title: 'Book', price: 10, support: '+4915112345678' }] }),
        await create({ delivery: 'locker', postal_code: undefined, locker: 'north' }),
      ];

      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(answers[0]?.json).toMatchObject({ orderId: order, recipient: 'ada@example.com' });
    });

    it.each([
      ['@IsUUID', { order_id: '17' }, 'order_id', 'must be a UUID'],
      ['@IsEmail with a message', { recipient: 'ada' }, 'recipient', 'Enter an email address.'],
      ['@IsEmail, missing', { recipient: undefined }, 'recipient', 'Enter an email address.'],
      ['@IsDateString', { pickup: 'tomorrow' }, 'pickup', 'must be a valid ISO 8601 date string'],
      ['@IsPositive', { weight: 0 }, 'weight', 'must be greater than 0'],
      ['@ValidateIf', { postal_code: undefined }, 'postal_code', 'must be a postal code'],
      ['@Validate', { delivery: 'locker', locker: 'west' }, 'locker', 'must be the name of a locker'],
      [
        '@ValidateNested',
        { items: [{ title: 'a', price: 1, support: '1' }] },
        'items.0.support',
        'must be a phone number',
      ],
      ['an unknown field', { colour: 'red' }, 'colour', 'is not known here'],
      ['an unknown nested field', { items: [{ title: 'a', price: 1, size: 1 }] }, 'items.0.size', 'is not known here'],
    ])('422: %s', async (_decorator, fields, path, message) => {
      const answer = await create(fields);

      expectInvalid(answer, 'schema', path);
      expect(answer.json.error.details.fields).toEqual([{ path, message }]);
    });

    it('400: a query is checked by decorators too', async () => {
      const refused = await server.api('GET', '/v1/depot/parcels?recipient=ada');

      expectRefusal(refused, 400);
      expect(refused.json.error.details.fields).toEqual([{ path: 'recipient', message: 'must be an email' }]);
      expect((await server.api('GET', '/v1/depot/parcels?recipient=nobody@example.com')).json).toEqual({ data: [] });
    });

    it('500: a validator that throws stores nothing, and the same key can be used again', async () => {
      const [headers, fields] = [{ 'idempotency-key': randomUUID() }, { order_id: randomUUID(), delivery: 'locker' }];

      const failed = await create({ ...fields, locker: 'broken' }, headers);
      const stored = await create({ ...fields, locker: 'south' }, headers);

      expectRefusal(failed, 500);
      expect(failed.text).not.toContain('hunter2');
      expect(server.logs()).toContain('hunter2');
      expect(stored.status).toBe(201);
    });

    it('201: a repeated request gets the first response, although its values would be refused now', async () => {
      const [headers, fields] = [{ 'idempotency-key': randomUUID() }, { order_id: randomUUID() }];

      const [first, repeated] = [await create(fields, headers), await create(fields, headers)];
      const refused = await create({ ...fields, recipient: 'ada' }, headers);

      expect([first.status, repeated.headers.get('idempotent-replayed'), repeated.json]).toEqual([
        201,
        'true',
        first.json,
      ]);
      expectRefusal(refused, 409);
    });

    it('the OpenAPI document describes the fields, with their formats', async () => {
      const { json } = await server.api('GET', '/openapi.json');

      expect(json.components.schemas.CreateParcelDto).toMatchObject({
        additionalProperties: false,
        required: ['order_id', 'recipient', 'pickup', 'weight', 'delivery'],
        properties: {
          order_id: { type: 'string', format: 'uuid' },
          recipient: { type: 'string', format: 'email' },
          pickup: { type: 'string', format: 'date-time' },
          weight: { type: 'number', exclusiveMinimum: 0 },
          items: { type: ['array', 'null'], maxItems: 20, items: { $ref: '#/components/schemas/ItemDto' } },
        },
      });
    });
  });

  it('403: @UseGuards with its own sentence', async () => {
    const { status, json } = await create({}, { 'x-day': 'sunday' });

    expect(status).toBe(403);
    expect(json.error).toMatchObject({ type: 'forbidden', message: 'The depot is closed on Sundays.' });
  });

  it('409: @UseFilters converts the error of the own table', async () => {
    const order = { order_id: randomUUID() };
    await create(order);

    const answer = await create(order);

    expectRefusal(answer, 409);
    expect(answer.json.error.message).toBe('This order has a parcel.');
  });

  it('200: @UseInterceptors changes the response, and @InjectRepository keeps environments apart', async () => {
    await create();

    const { key } = await createKey(server, { scope: 'read', environment: 'test' });
    const own = await server.api('GET', '/v1/depot/parcels');
    const other = await server.api('GET', '/v1/depot/parcels', undefined, { authorization: `Bearer ${key}` });

    expect(own.json.data.length).toBeGreaterThan(0);
    expect(other.json).toEqual({ data: [] });
  });

  it('400: a pipe of a parameter', async () => {
    const answer = await server.api('POST', '/v1/depot/parcels/17/hand-over', { destination: 'x' });

    expectRefusal(answer, 400);
    expect(answer.json.error.message).toBe('Validation failed (uuid is expected)');
  });

  it('sends from code in the transaction of the handler: a refused send keeps the parcel', async () => {
    const target = targets.open();
    const { id } = (await create()).json as { id: string };

    const refused = await server.api('POST', `/v1/depot/parcels/${id}/hand-over`, { destination: 'dst_unknown' });
    const sent = await server.api('POST', `/v1/depot/parcels/${id}/hand-over`, {
      destination: await destinationAt(server, target.url),
    });

    expect(refused.status).toBeGreaterThanOrEqual(400);
    expectStatus(sent, 202);
    const [post] = await target.arrived(1);
    expect(post?.headers['webhook-id']).toBe(sent.json.message_id);
    expect(post?.headers['webhook-event-type']).toBe('parcel.collected');
  });

  it('delivers to its destination type, and reports the delivery to the listener', async () => {
    const refused = await server.api('POST', '/v1/destinations', { name: 'A', type: 'shelf', config: { colour: 1 } });
    const created = await server.api('POST', '/v1/destinations', { name: 'A', type: 'shelf', config: { shelf: 'a' } });

    const message = await send(server, expectStatus(created, 201).json.id as string);

    expectInvalid(refused, 'schema', 'config.colour', 'config.shelf');
    await recorded(`shelved ${message} v1,`);
    await recorded('delivered to shelf');
  });

  it('listens to changes and to system events', async () => {
    const created = await server.api('POST', '/v1/destinations', { name: 'B', type: 'shelf', config: { shelf: 'b' } });

    await send(server, expectStatus(created, 201).json.id as string, { event_type: 'shelf.removed' });

    await recorded('a destination changed');
    await recorded('a destination was disabled');
  });

  it('retries by its named policy', async () => {
    const target = targets.open((_post, index) => ({ status: index < 2 ? 500 : 200 }));
    const destination = await destinationAt(server, target.url, { retry: { policy: 'depot' } });

    await send(server, destination);

    expect(await target.arrived(3)).toHaveLength(3);
  });

  it('rules by its acceptance policy: a header, and 422', async () => {
    const target = targets.open();
    const destination = await destinationAt(server, target.url);

    const refused = await server.api('POST', '/v1/send', {
      destination,
      event_type: 'order.paid',
      payload: { content: 'dynamite' },
    });
    await send(server, destination);

    expectRefusal(refused, 422);
    expect(refused.json.error).toMatchObject({ message: 'The depot takes no dynamite.', details: { check: 'policy' } });
    expect((await target.arrived(1))[0]?.headers['x-depot']).toBe('1');
  });

  it('signs in with its own tokens, within their scope', async () => {
    const { id } = (await server.api('GET', '/v1/org')).json as { id: string };
    const headers = { authorization: `Bearer depot:${id}` };

    const [read, write] = [
      await server.api('GET', '/v1/depot/parcels', undefined, headers),
      await server.api('POST', '/v1/depot/parcels', parcel(), headers),
    ];

    expect(read.status).toBe(200);
    expectRefusal(write, 403);
  });

  it('receives by its preset, whose verifier refuses a forged request', async () => {
    const endpoint = expectStatus(
      await server.api('POST', '/v1/endpoints', { slug: 'carrier', preset: 'depot-carrier' }),
      201,
    ).json as { id: string; url: string };
    await server.api('PUT', `/v1/endpoints/${endpoint.id}/secret`, { secret: 'carrier' });
    const body = '{"type":"parcel.moved"}';
    const post = (secret: string): Promise<Response> =>
      fetch(endpoint.url, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'carrier-signature': createHmac('sha512', secret).update(body).digest('hex'),
        },
      });

    expect([(await post('carrier')).ok, (await post('forged')).status]).toEqual([true, 401]);
  });

  it('sends emails with its transport, and stores them in its blob store', async () => {
    await verifyDomain(server, sql, 'depot.example');

    const id = await sendEmail(server, { from: 'depot@depot.example', to: 'ada@example.com' });

    await emailIn(server, id, 'delivered');
    await recorded('printed ');
    const blobs = await sql.rows<{ bytes: Buffer }>('select bytes from depot_blobs');
    expect(blobs.map(({ bytes }) => bytes.toString())).toEqual([await rawOf(server, id)]);
  });

  it('runs its recurring job on its queue', async () => {
    const before = (await tally()).parcels;
    await create();

    expect((await until(tally, ({ parcels }) => parcels > before)).parcels).toBeGreaterThan(before);
  });

  it('adds a tool for agents', async () => {
    const agent = await connectAgent(server, server.apiKey);

    const answer = await agent.call('read_depot_tally');
    await agent.close();

    expect(answer).toMatchObject({ isError: false, content: { records: expect.any(Array) } });
  });

  it('records its changes in the audit log', async () => {
    expectStatus(await create(), 201);

    const { json } = await server.api('GET', '/v1/audit?limit=1');

    expect(json.data).toMatchObject([{ action: 'POST /v1/depot/parcels', resource_type: 'parcels' }]);
  });

  it('does not start with a pipe that would apply to the routes of Posthorn', async () => {
    const start = startServer({ ...server.env, DEPOT_GLOBAL_PIPE: 'true' });

    await expect(start).rejects.toThrow(/The extension depot \(.*\) provides APP_PIPE in DepotModule/);
  });
});
