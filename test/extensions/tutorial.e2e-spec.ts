import { randomUUID } from 'node:crypto';
import { createKey, expectRefusal } from '../api/answers.js';
import { type ApiAnswer, type PosthornServer, startServer } from '../support/server.js';
import { compileSample, CONTACTS } from './sample.js';

const NOTHING = '0b0e7c0f-6c3e-4a39-9d4e-3a1f0d6f7a11';

/** The sample written with the techniques from Nest's documentation: pipes, guards, interceptors, repositories. */
describe('an extension written with the techniques of Nest', () => {
  let server: PosthornServer;

  beforeAll(async () => {
    server = await startServer({ EXTENSIONS: compileSample(CONTACTS).file });
  }, 180_000);

  afterAll(() => server?.stop());

  const create = (contact: object, headers = {}): Promise<ApiAnswer> =>
    server.api('POST', '/v1/contacts', contact, headers);
  const names = async (): Promise<string[]> =>
    ((await server.api('GET', '/v1/contacts')).json.data as { name: string }[]).map(({ name }) => name);

  it('201: a repository stores, the pipe transforms, and the serializer leaves out excluded fields', async () => {
    const { status, json } = await create({ name: '  Ada Lovelace ', phone: '+49 30 901820' });

    expect({ status, json }).toEqual({
      status: 201,
      json: { id: expect.any(String), name: 'Ada Lovelace', phone: '+49 30 901820' },
    });
    expect((await server.api('GET', `/v1/contacts/${json.id}`)).json).toEqual(json);
  });

  it('422: ValidationPipe rejects what is invalid after its transformation, with the path of each field', async () => {
    const answer = await create({ name: ' ', phone: ' ', address: { postal_code: ' ' } });

    expectRefusal(answer, 422);
    expect(answer.json.error.message).toBe('name should not be empty (and 2 more, see details.fields)');
    expect(answer.json.error.details).toEqual({
      check: 'schema',
      fields: [
        { path: 'name', message: 'name should not be empty' },
        { path: 'phone', message: 'phone should not be empty' },
        { path: 'address.postal_code', message: 'address.postal_code should not be empty' },
      ],
    });
    expect(await names()).not.toContain(' ');
  });

  it('400 and 404: the sentence of an exception with one sentence is the message', async () => {
    const [malformed, missing] = [
      await server.api('GET', '/v1/contacts/ada'),
      await server.api('GET', `/v1/contacts/${NOTHING}`),
    ];

    expectRefusal(malformed, 400);
    expect(malformed.json.error.message).toBe('Validation failed (uuid is expected)');
    expectRefusal(missing, 404);
    expect(missing.json.error.message).toBe('No such contact.');
  });

  it('409: an own filter converts the error of the database', async () => {
    await create({ name: 'Grace Hopper' });

    const again = await create({ name: 'Grace Hopper' });

    expectRefusal(again, 409);
    expect(again.json.error.message).toBe('A contact with this name already exists.');
  });

  it('200: an own interceptor changes the response of a route', async () => {
    await create({ name: 'Barbara Liskov' });

    const { json } = await server.api('GET', '/v1/contacts');

    expect(json.data).toContainEqual({ id: expect.any(String), name: 'Barbara Liskov', phone: null });
  });

  it('repositories join the transaction of the request: all writes and the audit entry, or nothing', async () => {
    const failed = await server.api('POST', '/v1/contacts/import', {
      contacts: [{ name: 'Edsger Dijkstra' }, { name: 'Edsger Dijkstra' }],
    });
    const afterFailure = await names();
    const { status, json } = await server.api('POST', '/v1/contacts/import', {
      contacts: [{ name: 'Alan Turing' }, { name: 'Kurt Gödel' }],
    });

    expectRefusal(failed, 409);
    expect(afterFailure).not.toContain('Edsger Dijkstra');
    expect({ status, count: json.count }).toEqual({ status: 200, count: afterFailure.length + 2 });
    const { data } = (await server.api('GET', '/v1/audit?action=POST%20/v1/contacts/import')).json;
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({ action: 'POST /v1/contacts/import', after: { count: afterFailure.length + 2 } });
  });

  it('201: the same Idempotency-Key creates once, and both responses have passed the interceptors', async () => {
    const headers = { 'idempotency-key': randomUUID() };

    const [first, second] = [
      await create({ name: 'Donald Knuth' }, headers),
      await create({ name: 'Donald Knuth' }, headers),
    ];

    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
    expect(first.json).toEqual({ id: expect.any(String), name: 'Donald Knuth', phone: null });
    expect(second.json).toEqual(first.json);
  });

  it('keeps the environments apart', async () => {
    await create({ name: 'Only live' });
    const { key } = await createKey(server, { scope: 'read', environment: 'test' });

    const { json } = await server.api('GET', '/v1/contacts', undefined, { authorization: `Bearer ${key}` });

    expect(json.data).toEqual([]);
  });

  it("403: a guard's exception has the type `forbidden` and the guard's sentence", async () => {
    const readOnly = await startServer({ ...server.env, CONTACTS_READ_ONLY: 'true' });
    const refused = await readOnly.api('POST', '/v1/contacts', { name: 'Too late' });
    const listed = await readOnly.api('GET', '/v1/contacts');
    await readOnly.stop();

    expect(refused.status).toBe(403);
    expect(refused.json.error).toMatchObject({
      type: 'forbidden',
      message: 'The contacts are being moved. Change them later.',
      details: {},
    });
    expect(listed.status).toBe(200);
  });
});
