import { type ApiAnswer, startServer } from '../support/server.js';
import { expectInvalid, expectRefusal } from './answers.js';
import { type DomainsScene, PLATFORM, recordsOf, type ShownRecord, startDomainsScene } from './domains.js';
import { rawOf, sendEmail } from './emailing.js';
import { until } from './polling.js';
import { expectStatus, uuidOf } from './scene.js';

type Domain = ApiAnswer['json'];

const DAY_MS = 86_400_000;

describe('DKIM keys of a domain', () => {
  let scene: DomainsScene;

  beforeAll(async () => {
    scene = await startDomainsScene();
  });

  afterAll(() => scene.close());

  const change = (id: string, body: object) => scene.server.api('PATCH', `/v1/domains/${id}`, body);
  const rotate = (id: string, body: object = {}) => scene.server.api('POST', `/v1/domains/${id}/dkim/rotate`, body);
  const statesOf = ({ dkim }: Domain): string[] =>
    dkim.keys.map(({ selector, state }: Record<string, string>) => `${selector} ${state}`);
  const dkimOf = (domain: Domain): string[] =>
    recordsOf(domain, 'dkim').map(({ name, required }) => `${name.split('.')[0]}${required ? '' : ' optional'}`);
  /** Returns the names and values of the domain's records, without the results of checks. */
  const valuesOf = ({ records }: Domain): string[] => records.map(({ name, value }: ShownRecord) => `${name} ${value}`);
  const recordAt = (domain: Domain, selector: string): ShownRecord =>
    domain.records.find(({ name }: ShownRecord) => name.startsWith(`${selector}._domainkey.`)) as ShownRecord;

  /** Sends an email from the domain and returns the selectors of its DKIM signatures. */
  async function signersOf({ domain }: Domain, server = scene.server): Promise<string[]> {
    const id = await sendEmail(server, { from: `shop@${domain}` });
    const raw = await rawOf(server, id);
    const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
    return [...head.matchAll(/^DKIM-Signature: [^]*?; s=([^;]+);/gm)].map(([, selector = '']) => selector);
  }

  /** Returns a domain that sends mail signed with its own keys. */
  async function withOwnKeys(algorithm = 'rsa-2048'): Promise<Domain> {
    const answer = await scene.server.api('POST', '/v1/domains', {
      domain: scene.host(),
      kind: 'email-send',
      dkim: { mode: 'domain', algorithm },
    });
    const made = expectStatus(answer, 201).json;
    scene.publish(made.records);
    return scene.verify(made.id);
  }

  it('201: a new domain lists its own key records instead of CNAMEs, and signs every email twice', async () => {
    const { json: made } = await scene.server.api('POST', '/v1/domains', {
      domain: scene.host(),
      kind: 'email-send',
      dkim: { mode: 'domain', algorithm: 'rsa-2048+ed25519' },
    });

    expect(made.dkim).toMatchObject({ mode: 'domain', algorithm: 'rsa-2048+ed25519' });
    expect([statesOf(made), dkimOf(made)]).toEqual([
      ['phe1 pending', 'phr1 pending'],
      ['phe1', 'phr1'],
    ]);
    expect(recordAt(made, 'phr1')).toMatchObject({
      type: 'TXT',
      name: `phr1._domainkey.${made.domain}`,
      value: expect.stringMatching(/^v=DKIM1; k=rsa; p=MII[A-Za-z0-9+/]{380,}={0,2}$/),
    });
    expect(recordAt(made, 'phe1').value).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);

    scene.publish(made.records);
    const verified = await scene.verify(made.id);
    expect([verified.state, verified.sending_enabled, statesOf(verified)]).toEqual([
      'verified',
      true,
      ['phe1 signing', 'phr1 signing'],
    ]);
    expect(await signersOf(verified)).toEqual(['phr1', 'phe1']);
  });

  it.each<[string, (value: string) => string, RegExp]>([
    ['another key', (value) => value.replace(/p=..../, 'p=AAAA'), /has another key/],
    ['no key type', (value) => value.replace('k=ed25519; ', ''), /needs k=ed25519/],
    ['a revoked key', () => 'v=DKIM1; k=ed25519; p=', /has another key/],
  ])('a record with %s is not accepted, and the domain does not send', async (_what, edit, error) => {
    const { json: made } = await scene.server.api('POST', '/v1/domains', {
      domain: scene.host(),
      kind: 'email-send',
      dkim: { mode: 'domain', algorithm: 'rsa-2048+ed25519' },
    });
    scene.publish(made.records);
    const { name, value } = recordAt(made, 'phe1');
    scene.zone.set(name, 'TXT', [edit(value)]);

    const checked = await scene.verify(made.id);

    expect(recordAt(checked, 'phe1')).toMatchObject({ status: 'failed', error: expect.stringMatching(error) });
    expect([checked.sending_enabled, statesOf(checked)]).toEqual([false, ['phe1 pending', 'phr1 pending']]);
  });

  it("PATCH dkim.mode: the platform's key signs until the domain's records are found, and its CNAMEs stay required for a week", async () => {
    const before = await scene.verified('email-send');
    const changed = expectStatus(await change(before.id, { dkim: { mode: 'domain' } }), 200).json;
    expect([changed.state, changed.dkim.mode, statesOf(changed), dkimOf(changed)]).toEqual([
      'verified',
      'domain',
      ['phr1 pending'],
      ['ph1', 'ph2', 'phr1 optional'],
    ]);
    expect((await change(before.id, { dkim: { mode: 'domain' } })).json.records).toEqual(changed.records);
    const waiting = await scene.verify(before.id);
    expect([waiting.state, await signersOf(waiting)]).toEqual(['verified', ['ph1']]);

    scene.publish([recordAt(changed, 'phr1')]);
    const switched = await scene.verify(before.id);

    expect([statesOf(switched), dkimOf(switched), await signersOf(switched)]).toEqual([
      ['phr1 signing'],
      ['ph1', 'ph2', 'phr1'],
      ['phr1'],
    ]);
    await scene.sql.rows('update domains set platform_dkim_until = now() where id = $1', [uuidOf(before.id)]);
    scene.withdraw(recordsOf(before, 'dkim'));
    expect(dkimOf(await scene.verify(before.id))).toEqual(['phr1']);
  });

  it('POST dkim/rotate: the previous key signs until the new record is found, then retires; a repeated call changes nothing', async () => {
    const before = await withOwnKeys();
    const rotated = expectStatus(await rotate(before.id, { grace_seconds: 86_400 }), 200).json;
    expect([statesOf(rotated), dkimOf(rotated)]).toEqual([
      ['phr1 signing', 'phr2 pending'],
      ['phr1', 'phr2 optional'],
    ]);
    expect((await rotate(before.id)).json.records).toEqual(rotated.records);
    expect(await signersOf(await scene.verify(before.id))).toEqual(['phr1']);

    scene.publish([recordAt(rotated, 'phr2')]);
    const switched = await scene.verify(before.id);

    expect([statesOf(switched), dkimOf(switched), await signersOf(switched)]).toEqual([
      ['phr1 retiring', 'phr2 signing'],
      ['phr1', 'phr2'],
      ['phr2'],
    ]);
    const [{ required_until }] = switched.dkim.keys;
    expect((Date.parse(required_until) - Date.now()) / DAY_MS).toBeCloseTo(1, 1);
    const refused = await rotate(before.id);
    expectRefusal(refused, 409);
    expect(refused.json.error.details).toEqual({ required_until });

    await scene.sql.rows('update domain_dkim_keys set required_until = now() where domain_id = $1 and selector = $2', [
      uuidOf(before.id),
      'phr1',
    ]);
    scene.withdraw([recordAt(before, 'phr1')]);
    const after = await scene.verify(before.id);
    expect([after.state, statesOf(after)]).toEqual(['verified', ['phr2 signing']]);
    expect(
      await scene.sql.rows('select selector from domain_dkim_keys where domain_id = $1', [uuidOf(before.id)]),
    ).toEqual([{ selector: 'phr2' }]);
    const next = expectStatus(await rotate(before.id), 200).json;
    expect(statesOf(next)).toEqual(['phr1 pending', 'phr2 signing']);
    expect(recordAt(next, 'phr1').value).not.toBe(recordAt(before, 'phr1').value);
  });

  it('POST dkim/rotate: concurrent calls show the same records, and the key of these records signs', async () => {
    const before = await withOwnKeys();

    const answers = await Promise.all(Array.from({ length: 4 }, () => rotate(before.id)));

    const [first, ...others] = answers.map((answer) => expectStatus(answer, 200).json);
    expect(statesOf(first)).toEqual(['phr1 signing', 'phr2 pending']);
    for (const other of others) expect(valuesOf(other)).toEqual(valuesOf(first));
    scene.publish([recordAt(first, 'phr2')]);
    expect(await signersOf(await scene.verify(before.id))).toEqual(['phr2']);
  });

  it('PATCH dkim.mode domain: concurrent calls show the same records', async () => {
    const { id } = await scene.verified('email-send');

    const answers = await Promise.all(Array.from({ length: 4 }, () => change(id, { dkim: { mode: 'domain' } })));

    const [first, ...others] = answers.map((answer) => expectStatus(answer, 200).json);
    expect(statesOf(first)).toEqual(['phr1 pending']);
    for (const other of others) expect(valuesOf(other)).toEqual(valuesOf(first));
  });

  it('two servers on one database: both sign with the new key as soon as one of them has switched to it', async () => {
    const { DATABASE_URL: databaseUrl = '', ...env } = scene.server.env;
    const other = await startServer({ ...env, DATABASE_URL: databaseUrl, PORT: '0' });
    try {
      const before = await withOwnKeys('rsa-2048+ed25519');
      const signers = async (): Promise<string[][]> =>
        Promise.all([scene.server, other, scene.server, other].map((server) => signersOf(before, server)));
      expect(await signers()).toEqual(Array.from({ length: 4 }, () => ['phr1', 'phe1']));

      const path = `/v1/domains/${before.id}/dkim/rotate`;
      const rotated = expectStatus(await other.api('POST', path, { grace_seconds: 86_400 }), 200).json;
      expect(await signers()).toEqual(Array.from({ length: 4 }, () => ['phr1', 'phe1']));
      scene.publish([recordAt(rotated, 'phr2'), recordAt(rotated, 'phe2')]);
      // Repeats the check, because a check that began before the records were published may still run in the other
      // process.
      await until(
        () => scene.verify(before.id, other),
        (domain) => statesOf(domain).includes('phr2 signing'),
      );

      expect(await signers()).toEqual(Array.from({ length: 4 }, () => ['phr2', 'phe2']));
    } finally {
      await other.stop();
    }
  });

  it('PATCH dkim.algorithm: adds the second signature once its record is found', async () => {
    const before = await withOwnKeys();

    const changed = expectStatus(
      await change(before.id, { dkim: { mode: 'domain', algorithm: 'rsa-2048+ed25519' } }),
      200,
    ).json;

    expect([changed.dkim.algorithm, await signersOf(changed)]).toEqual(['rsa-2048+ed25519', ['phr1']]);
    scene.publish(recordsOf(changed, 'dkim'));
    expect(await signersOf(await scene.verify(before.id))).toEqual(['phr2', 'phe1']);
  });

  it("PATCH dkim.mode platform: 409 until the platform's CNAMEs are published, then its key signs at once", async () => {
    const before = await withOwnKeys();

    const refused = await change(before.id, { dkim: { mode: 'platform' } });

    expectRefusal(refused, 409);
    const { records } = refused.json.error.details as { records: ShownRecord[] };
    expect(records).toMatchObject(
      ['ph1', 'ph2'].map((selector) => ({
        type: 'CNAME',
        name: `${selector}._domainkey.${before.domain}`,
        value: `${selector}._domainkey.${PLATFORM}`,
        error: expect.any(String),
      })),
    );
    expect(await signersOf(before)).toEqual(['phr1']);
    scene.publish(records.map((each) => ({ ...each, priority: null })));
    const changed = expectStatus(await change(before.id, { dkim: { mode: 'platform' } }), 200).json;
    expect([changed.dkim.mode, statesOf(changed), dkimOf(changed), await signersOf(changed)]).toEqual([
      'platform',
      ['phr1 retiring'],
      ['ph1', 'ph2', 'phr1'],
      ['ph1'],
    ]);
    expect((await scene.verify(before.id)).state).toBe('verified');
  });

  it("PATCH dkim.mode platform drops keys that do not sign yet, without looking for the platform's records", async () => {
    const domain = await scene.create('email-send');
    expectStatus(await change(domain.id, { dkim: { mode: 'domain' } }), 200);

    const changed = expectStatus(await change(domain.id, { dkim: { mode: 'platform' } }), 200).json;

    expect([changed.dkim, dkimOf(changed)]).toEqual([
      { mode: 'platform', algorithm: 'rsa-2048', keys: [] },
      ['ph1', 'ph2'],
    ]);
  });

  it('null in optional fields is the same as no value', async () => {
    const body = { domain: 'null.example', kind: 'email-send', acknowledge_mx_conflict: null, dkim: null };
    const made = expectStatus(await scene.server.api('POST', '/v1/domains', body), 201).json;
    const own = expectStatus(await change(made.id, { dkim: { mode: 'domain', algorithm: null } }), 200).json;
    const rotated = expectStatus(await rotate(made.id, { grace_seconds: null }), 200).json;

    expect([made.dkim.mode, own.dkim.algorithm, rotated.dkim.mode]).toEqual(['platform', 'rsa-2048', 'domain']);
  });

  it('a conversion keeps the keys', async () => {
    const before = await withOwnKeys();

    const converted = expectStatus(await change(before.id, { kind: 'email', acknowledge_mx_conflict: true }), 200).json;

    expect([statesOf(converted), await signersOf(converted)]).toEqual([['phr1 signing'], ['phr1']]);
    expect((await scene.server.api('GET', '/v1/domains')).json.data[0]).toMatchObject({ dkim: converted.dkim });
  });

  it('private keys are stored encrypted, are in no response, and are deleted with the domain', async () => {
    const { id } = await withOwnKeys('rsa-2048+ed25519');
    const keys = await scene.sql.rows<{ private_key: Buffer }>(
      'select private_key from domain_dkim_keys where domain_id = $1',
      [uuidOf(id)],
    );

    expect(keys).toHaveLength(2);
    // A key in PKCS #8 contains the identifier of its algorithm (1.2.840.113549.1.1.1 or 1.3.101.112) in plain text.
    for (const { private_key } of keys)
      expect(private_key.toString('hex')).not.toMatch(/2a864886f70d010101|06032b6570/);
    expect((await scene.server.api('GET', `/v1/domains/${id}`)).text).not.toContain('private');
    expectStatus(await scene.server.api('DELETE', `/v1/domains/${id}`), 204);
    expect(await scene.sql.rows('select 1 from domain_dkim_keys where domain_id = $1', [uuidOf(id)])).toEqual([]);
  });

  it('a key that does not belong to its record signs nothing: the email is not accepted', async () => {
    const domain = await withOwnKeys();
    await scene.sql.rows(`update domain_dkim_keys set public_key = 'AAAA' where domain_id = $1`, [uuidOf(domain.id)]);
    await scene.sql.rows('update domains set version = version + 1 where id = $1', [uuidOf(domain.id)]);

    const answer = await scene.server.api('POST', '/v1/emails', {
      from: `shop@${domain.domain}`,
      to: 'delivered@simulator.posthorn.example',
      subject: 'x',
      text: 'x',
    });

    expect(answer.status).toBe(500);
  });

  it.each<[string, object, string]>([
    ['an unknown mode', { dkim: { mode: 'both' } }, 'dkim.mode'],
    ['no mode', { dkim: {} }, 'dkim.mode'],
    ['an unknown algorithm', { dkim: { mode: 'domain', algorithm: 'rsa-1024' } }, 'dkim.algorithm'],
    ["Ed25519 for the platform's key", { dkim: { mode: 'platform', algorithm: 'rsa-2048+ed25519' } }, 'dkim.algorithm'],
    ['a private key', { dkim: { mode: 'domain', private_key: 'x' } }, 'dkim.private_key'],
    ['a string', { dkim: 'domain' }, 'dkim'],
    ['null', { dkim: null }, 'dkim'],
    ['a kind as well', { kind: 'email-send', dkim: { mode: 'domain' } }, 'dkim'],
    ['nothing', {}, 'kind'],
  ])('422: PATCH with %s', async (_what, body, path) => {
    const { id } = await scene.create('email-send');

    expectInvalid(await change(id, body), 'schema', path);
  });

  it.each<[string, unknown]>([
    ['negative', -1],
    ['over 30 days', 30 * 86_400 + 1],
    ['a fraction', 1.5],
    ['a string', '60'],
  ])('422: a rotation with grace_seconds that is %s', async (_what, grace_seconds) => {
    const { id } = await scene.create('email-send');

    expectInvalid(await rotate(id, { grace_seconds }), 'schema', 'grace_seconds');
  });

  it('a webhook domain has no DKIM keys: 422 on creation and change, 409 on rotation', async () => {
    const { id, dkim } = await scene.create('webhook');

    expect(dkim).toBeNull();
    expectInvalid(await change(id, { dkim: { mode: 'domain' } }), 'schema', 'dkim');
    const body = { domain: scene.host(), kind: 'webhook', dkim: { mode: 'domain' } };
    expectInvalid(await scene.server.api('POST', '/v1/domains', body), 'schema', 'dkim');
    expectRefusal(await rotate(id), 409);
  });

  it("409: a rotation of the platform's key", async () => {
    const { id } = await scene.create('email-send');

    expectRefusal(await rotate(id), 409);
  });
});
