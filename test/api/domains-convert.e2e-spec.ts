import { expectInvalid, expectRefusal } from './answers.js';
import { type DomainsScene, PLATFORM, recordsOf, startDomainsScene } from './domains.js';
import { expectStatus } from './scene.js';

describe('PATCH /v1/domains/{id}', () => {
  let scene: DomainsScene;

  beforeAll(async () => {
    scene = await startDomainsScene();
  });

  afterAll(() => scene.close());

  const convert = (id: string, body: object) => scene.server.api('PATCH', `/v1/domains/${id}`, body);

  it('200: a domain converted to email is pending until its MX record is found, and can still send', async () => {
    const before = await scene.verified('email-send');

    const converted = expectStatus(await convert(before.id, { kind: 'email' }), 200).json;
    const looked = await scene.verify(before.id);
    scene.publish(recordsOf(converted, 'mx'));
    const verified = await scene.verify(before.id);

    expect(converted).toMatchObject({
      kind: 'email',
      state: 'pending-dns',
      sending_enabled: true,
      receiving_enabled: false,
    });
    expect(converted.records.filter(({ record }: { record: string }) => record !== 'mx')).toEqual(before.records);
    expect(recordsOf(converted, 'mx')).toMatchObject([
      { name: before.domain, value: `mx.${PLATFORM}`, status: 'pending', error: null },
    ]);
    expect(looked).toMatchObject({ state: 'pending-dns', sending_enabled: true, receiving_enabled: false });
    expect(verified).toMatchObject({ state: 'verified', sending_enabled: true, receiving_enabled: true });
  });

  it('200: a domain converted to email-send keeps its other records and needs no new proof of ownership', async () => {
    const before = await scene.verified('email');

    const converted = expectStatus(await convert(before.id, { kind: 'email-send' }), 200).json;
    scene.withdraw(recordsOf(before, 'mx'));
    const looked = await scene.verify(before.id);

    expect(converted).toMatchObject({
      kind: 'email-send',
      state: 'verified',
      sending_enabled: true,
      receiving_enabled: false,
    });
    expect(converted.records).toEqual(before.records.filter(({ record }: { record: string }) => record !== 'mx'));
    expect(looked).toMatchObject({ state: 'verified', receiving_enabled: false });
  });

  it('200: a domain converted to email-send is verified if it lacked only its MX record, but not if it lacked more', async () => {
    const [sends, neither] = [await scene.create('email'), await scene.create('email')];
    scene.publish(recordsOf(sends, 'ownership', 'dkim'));
    scene.publish(recordsOf(neither, 'ownership'));
    for (const { id } of [sends, neither]) expect(await scene.verify(id)).toMatchObject({ state: 'pending-dns' });

    const answers = await Promise.all([sends, neither].map(({ id }) => convert(id, { kind: 'email-send' })));

    expect(answers.map(({ json }) => [json.state, json.sending_enabled])).toEqual([
      ['verified', true],
      ['pending-dns', false],
    ]);
    expect(answers[0]?.json.verified_at).not.toBeNull();
  });

  it('200: a conversion to the same kind changes nothing', async () => {
    const before = await scene.verified('email');

    expect(expectStatus(await convert(before.id, { kind: 'email' }), 200).json).toEqual(before);
  });

  it('409: a conversion to email while another MX receives its mail, unless that is acknowledged', async () => {
    const { id, domain } = await scene.verified('email-send');
    scene.zone.set(domain, 'MX', ['5 mail.elsewhere.example']);

    const refused = await convert(id, { kind: 'email' });

    expectRefusal(refused, 409);
    expect(refused.json.error.details).toEqual({ mx: [{ exchange: 'mail.elsewhere.example', priority: 5 }] });
    expect((await scene.server.api('GET', `/v1/domains/${id}`)).json).toMatchObject({
      kind: 'email-send',
      state: 'verified',
    });
    expect(expectStatus(await convert(id, { kind: 'email', acknowledge_mx_conflict: true }), 200).json).toMatchObject({
      state: 'pending-dns',
    });
  });

  it('422: a webhook domain cannot be converted, nor to webhook, nor to an unknown kind', async () => {
    const [webhook, email] = [await scene.create('webhook'), await scene.create('email')];

    for (const kind of ['email', 'email-send'])
      expectInvalid(await convert(webhook.id, { kind, acknowledge_mx_conflict: true }), 'schema', 'kind');
    for (const kind of ['webhook', 'fax', null]) expectInvalid(await convert(email.id, { kind }), 'schema', 'kind');
    expectInvalid(await convert(email.id, {}), 'schema', 'kind');
    expectInvalid(await convert(email.id, { kind: 'email', domain: 'other.customer.example' }), 'schema', 'domain');
  });
});
