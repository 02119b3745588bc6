import assert from 'node:assert/strict';
import { type Access, Client } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';

/** A request as the provider sends it. */
export interface ProviderRequest {
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface PresetUnderTest {
  service(): Promise<Access> | Access;
  /** Id of the preset. */
  preset: string;
  /** Two secrets that the preset accepts. */
  secrets: readonly [string, string];
  /** Returns a new request, with its own id, that the provider signs now with the secret. */
  request(secret: string): ProviderRequest;
  /** Event type of these requests. */
  eventType: string;
}

/** Returns checks of a preset: signed, forged and unsigned requests, and requests after a change to the secret. */
export function presetConformance(subject: PresetUnderTest): ConformanceCheck[] {
  const [secret, other] = subject.secrets;
  const client = async (): Promise<Client> => new Client(await subject.service());
  let made: Promise<{ id: string; url: string }> | null = null;
  const create = async (): Promise<{ id: string; url: string }> => {
    const api = await client();
    const slug = `conformance-${subject.preset}`;
    const { id, url } = await api.expect(201, 'POST', '/v1/endpoints', { slug, preset: subject.preset });
    await api.expect(204, 'PUT', `/v1/endpoints/${id as string}/secret`, { secret });
    return { id: id as string, url: url as string };
  };
  const endpoint = (): Promise<{ id: string; url: string }> => (made ??= create());
  const post = async ({ headers, body }: ProviderRequest): Promise<Response> =>
    fetch((await endpoint()).url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const refused = async (request: ProviderRequest): Promise<void> =>
    assert.equal((await post(request)).status, 401, 'A request that the provider did not sign must get 401.');
  return [
    {
      name: 'the preset is listed, with a description of its secret',
      run: async () => {
        const { data } = await (await client()).expect(200, 'GET', '/v1/presets');
        const found = (data as { id: string; secret: string }[]).find(({ id }) => id === subject.preset);
        assert.ok(found !== undefined && found.secret !== '');
      },
    },
    {
      name: 'a signed request is accepted as verified, with its event type',
      run: async () => {
        const answer = await post(subject.request(secret));
        assert.ok(answer.ok, `The request got ${answer.status}.`);
        const api = await client();
        const { data } = await api.expect(200, 'GET', `/v1/endpoints/${(await endpoint()).id}/requests`);
        const [{ id, verified } = { id: '', verified: false }] = data as { id: string; verified: boolean }[];
        assert.equal(verified, true);
        const raw = await api.expect(200, 'GET', `/v1/endpoints/${(await endpoint()).id}/requests/${id}`);
        const event = await api.expect(200, 'GET', `/v1/events/${raw['event_id'] as string}`);
        assert.equal(event['event_type'], subject.eventType);
      },
    },
    { name: '401: a request signed with another secret', run: () => refused(subject.request(other)) },
    {
      name: '401: a request whose body was changed',
      run: async () => {
        const { headers, body } = subject.request(secret);
        await refused({ headers, body: `${body} ` });
      },
    },
    {
      name: '401: a request without headers, and one whose headers are nonsense',
      run: async () => {
        const { headers, body } = subject.request(secret);
        await refused({ headers: {}, body });
        await refused({ headers: Object.fromEntries(Object.keys(headers).map((name) => [name, '=;,'])), body });
        await refused({ headers: {}, body: '{' });
      },
    },
    {
      name: 'during the grace of a new secret both secrets verify, and afterwards only the new one',
      run: async () => {
        const put = async (grace: number): Promise<unknown> =>
          (await client()).expect(204, 'PUT', `/v1/endpoints/${(await endpoint()).id}/secret`, {
            secret: other,
            grace_seconds: grace,
          });
        await put(3600);
        for (const each of [secret, other]) assert.ok((await post(subject.request(each))).ok);
        await put(0);
        await refused(subject.request(secret));
        assert.ok((await post(subject.request(other))).ok);
      },
    },
  ];
}
