import { verify as verifyGithub } from '@octokit/webhooks-methods';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { sharedServer } from '../support/shared-server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { until } from './polling.js';
import type { Sql, TargetPath, Targets } from './scene.js';
import { destinationAt, expectStatus, openSql, send, startTargets, uuidOf } from './scene.js';

const LEGACY = { header: 'X-Acme-Signature', format: 'sha256={signature}', secret: 'an old shared secret' };
const SHOWN = {
  header: 'X-Acme-Signature',
  algorithm: 'sha256',
  encoding: 'hex',
  content: '{body}',
  format: 'sha256={signature}',
  timestamp_header: null,
  id_header: null,
};

describe('settings of signatures', () => {
  let server: PosthornServer;
  let targets: Targets;
  let sql: Sql;

  beforeAll(async () => {
    [server, targets] = await Promise.all([sharedServer(), startTargets()]);
    sql = openSql(server);
  });

  afterAll(async () => {
    await sql.close();
    await server.stop();
    await targets.close();
  });

  const create = (settings: object): Promise<ApiAnswer> =>
    server.api('POST', '/v1/destinations', { name: 'A', type: 'https', url: targets.open().url, ...settings });
  const patch = (id: string, body: object): Promise<ApiAnswer> => server.api('PATCH', `/v1/destinations/${id}`, body);
  const read = async (id: string): Promise<ApiAnswer['json']> =>
    (await server.api('GET', `/v1/destinations/${id}`)).json;

  async function nextSignature(
    target: TargetPath,
    id: string,
    name = 'x-acme-signature',
  ): Promise<{ body: string; signature: string }> {
    const before = target.posts().length;
    await send(server, id);
    const post = (await target.arrived(before + 1)).at(-1);
    return { body: String(post?.rawBody), signature: String(post?.headers[name]) };
  }

  it('201: returned with every effective default and without the secret', async () => {
    const { json } = await create({ legacy_signature: LEGACY, asymmetric: true, concurrency: 7 });

    expect(json).toMatchObject({ asymmetric: true, concurrency: 7, legacy_signature: SHOWN });
    expect(Object.keys(json.legacy_signature)).toHaveLength(Object.keys(SHOWN).length);
    expect(await read(json.id)).toEqual(json);
  });

  it('200: a change keeps an omitted secret, and replaces a given one', async () => {
    const target = targets.open();
    const id = await destinationAt(server, target.url, { legacy_signature: LEGACY });

    const { json: kept } = await patch(id, { legacy_signature: { header: 'X-Acme-Signature', encoding: 'base64' } });
    const base64 = await nextSignature(target, id);
    const { json: renewed } = await patch(id, {
      legacy_signature: { ...LEGACY, secret: '6e657720736563726574', secret_encoding: 'hex' },
    });
    const hex = await nextSignature(target, id);

    expect(kept.legacy_signature).toEqual({ ...SHOWN, encoding: 'base64', format: '{signature}' });
    expect(
      await verifyGithub(
        LEGACY.secret,
        base64.body,
        `sha256=${Buffer.from(base64.signature, 'base64').toString('hex')}`,
      ),
    ).toBe(true);
    expect(await verifyGithub('new secret', hex.body, hex.signature)).toBe(true);
    expect(renewed.version).toBe(kept.version + 1);
  });

  it('200: null removes the legacy signature with its secret', async () => {
    const target = targets.open();
    const id = await destinationAt(server, target.url, { legacy_signature: LEGACY });

    const { json } = await patch(id, { legacy_signature: null });

    expect(json.legacy_signature).toBeNull();
    expect((await nextSignature(target, id)).signature).toBe('undefined');
    expectInvalid(
      await patch(id, { legacy_signature: { header: 'X-Acme-Signature' } }),
      'schema',
      'legacy_signature.secret',
    );
  });

  it('200: null restores the defaults of concurrency and asymmetric', async () => {
    const id = await destinationAt(server, targets.open().url, { concurrency: 1, asymmetric: true });

    expect((await patch(id, { concurrency: null, asymmetric: null })).json).toMatchObject({
      concurrency: null,
      asymmetric: false,
    });
    expect((await server.api('GET', `/v1/destinations/${id}/secret`)).json.public_key).toBeNull();
  });

  it.each<[string, object, string]>([
    ['no secret', { legacy_signature: { header: 'X-A' } }, 'legacy_signature.secret'],
    ['no header', { legacy_signature: { secret: 'a' } }, 'legacy_signature.header'],
    ['an unknown field', { legacy_signature: { ...LEGACY, prefix: 'a' } }, 'legacy_signature.prefix'],
    ['an unknown hash', { legacy_signature: { ...LEGACY, algorithm: 'sha3' } }, 'legacy_signature.algorithm'],
    [
      'a header of the standard',
      { legacy_signature: { ...LEGACY, header: 'webhook-signature' } },
      'legacy_signature.header',
    ],
    ['a static header', { legacy_signature: LEGACY, headers: { 'x-acme-signature': 'a' } }, 'legacy_signature.header'],
    ['a template without the body', { legacy_signature: { ...LEGACY, content: '{id}' } }, 'legacy_signature.content'],
    ['a value without the signature', { legacy_signature: { ...LEGACY, format: 'v1' } }, 'legacy_signature.format'],
    [
      'a secret that is not hex',
      { legacy_signature: { ...LEGACY, secret: 'abc', secret_encoding: 'hex' } },
      'legacy_signature.secret',
    ],
    [
      'a secret that is not base64',
      { legacy_signature: { ...LEGACY, secret: '####', secret_encoding: 'base64' } },
      'legacy_signature.secret',
    ],
    [
      'a secret encoding without a secret',
      { legacy_signature: { header: 'X-A', secret_encoding: 'hex' } },
      'legacy_signature.secret_encoding',
    ],
    ['a concurrency of 0', { concurrency: 0 }, 'concurrency'],
    ['too much concurrency', { concurrency: 1001 }, 'concurrency'],
    ['half an attempt', { concurrency: 1.5 }, 'concurrency'],
    ['a string instead of a boolean', { asymmetric: 'yes' }, 'asymmetric'],
  ])('422: %s', async (_what, settings, path) => {
    expectInvalid(await create(settings), 'schema', path);
  });

  it('422: a static header with the name of the legacy signature header', async () => {
    const id = await destinationAt(server, targets.open().url, { legacy_signature: LEGACY });

    expectInvalid(await patch(id, { headers: { 'X-ACME-signature': 'a' } }), 'schema', 'legacy_signature.header');
    expect(await read(id)).toMatchObject({ version: 1, headers: {} });
  });

  it('404 and 422: the internal destination of an application endpoint cannot be addressed by its id', async () => {
    const { url } = targets.open();
    const [listed, owned] = [await destinationAt(server, url), await destinationAt(server, url)];
    await sql.rows(
      `
      with given as (update destinations set owner_id = id where id = $1 returning environment_id, id)
      select pg_notify('posthorn', 'destination:' || environment_id || ':' || id) from given`,
      [uuidOf(owned)],
    );
    const path = `/v1/destinations/${owned}`;

    const test = (): Promise<ApiAnswer> => server.api('POST', `${path}/test`);
    const page = await server.api('GET', '/v1/destinations?limit=100');
    const gone = [
      await server.api('GET', path),
      await patch(owned, { name: 'B' }),
      await server.api('POST', `${path}/validate`),
      await server.api('GET', `${path}/secret`),
      await server.api('POST', `${path}/secret/rotate`, {}),
      await until(test, ({ status }) => status !== 200),
      await server.api('DELETE', path),
    ];

    expect(page.json.data.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([listed]));
    expect(page.json.data.map(({ id }: { id: string }) => id)).not.toContain(owned);
    for (const answer of gone) expectRefusal(answer, 404);
    expectInvalid(
      await server.api('POST', '/v1/send', { destination: owned, event_type: 'a', payload: {} }),
      'schema',
      'destination',
    );
    expectInvalid(
      await server.api('POST', '/v1/endpoints', {
        name: 'E',
        path: 'owned',
        verification: 'none',
        destinations: [owned],
      }),
      'schema',
      'destinations.0',
    );
    expectStatus(await server.api('GET', `/v1/destinations/${listed}`), 200);
    expect(await sql.rows('select 1 from destinations where id = $1', [uuidOf(owned)])).toHaveLength(1);
  });
});
