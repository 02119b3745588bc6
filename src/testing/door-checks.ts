import assert from 'node:assert/strict';
import { type Access, Client, until } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';
import type { ReceivedMessage } from './destination-under-test.js';

/** A token that must be rejected. `name` states the reason, and is used as the name of the check. */
export interface RefusedToken {
  name: string;
  token: () => string;
}

export interface AuthenticatorUnderTest {
  service(): Promise<Access> | Access;
  /** Returns a token for the organization and environment of the service's key. */
  token(scope: 'read' | 'write' | 'admin'): string;
  refused: readonly RefusedToken[];
}

export interface TargetUnderTest {
  url: string;
  received(): readonly ReceivedMessage[];
}

export interface MessageDraft {
  event_type: string;
  payload: Record<string, unknown>;
}

export interface PolicyUnderTest {
  service(): Promise<Access> | Access;
  target: TargetUnderTest;
  /** A message that the policy accepts, and the headers that the policy adds, if any. */
  taken: MessageDraft & { headers?: (organization: string) => Record<string, string> };
  refused: MessageDraft & { reason: RegExp };
  /**
   * An email that the policy accepts, the headers that the policy adds to it, and an email that the policy rejects.
   * Omit it if the policy accepts every email unchanged.
   */
  email?: {
    taken: string;
    headers?: (organization: string) => Record<string, string>;
    refused: string;
    reason: RegExp;
  };
}

export interface ListenerUnderTest {
  service(): Promise<Access> | Access;
  target: TargetUnderTest & { answer(status: number): void };
  told(): Promise<{ delivered: number; failed: number }>;
}

type Json = Record<string, unknown>;

export function authenticatorConformance(subject: AuthenticatorUnderTest): ConformanceCheck[] {
  const as = async (token: string): Promise<Client> =>
    new Client({ url: (await subject.service()).url, apiKey: token });
  const own = async (): Promise<Client> => new Client(await subject.service());
  return [
    {
      name: 'a token authenticates its organization and environment',
      run: async () =>
        assert.deepEqual(
          await (await as(subject.token('admin'))).expect(200, 'GET', '/v1/org'),
          await (await own()).expect(200, 'GET', '/v1/org'),
        ),
    },
    {
      name: 'a token has its scope and no more',
      run: async () => {
        await (await as(subject.token('read'))).expect(200, 'GET', '/v1/destinations');
        await (
          await as(subject.token('read'))
        ).expect(403, 'POST', '/v1/destinations', { name: 'Conformance', type: 'pull' });
        await (
          await as(subject.token('write'))
        ).expect(201, 'POST', '/v1/destinations', { name: 'Conformance', type: 'pull' });
      },
    },
    {
      name: 'API keys still authenticate',
      run: async () => void (await (await own()).expect(200, 'GET', '/v1/destinations')),
    },
    {
      name: 'a truncated token is rejected',
      run: async () =>
        void (await (await as(subject.token('admin').slice(0, -2))).expect(401, 'GET', '/v1/destinations')),
    },
    ...subject.refused.map(({ name, token }) => ({
      name: `refused: ${name}`,
      run: async () => void (await (await as(token())).expect(401, 'GET', '/v1/destinations')),
    })),
  ];
}

/** Returns checks of a policy that cover every way to submit a message. */
export function policyConformance(subject: PolicyUnderTest): ConformanceCheck[] {
  const scene = new DoorScene(subject);
  const refusal = (answer: Json, reason = subject.refused.reason): void => {
    const { message, details } = answer['error'] as { message: string; details: Json };
    assert.match(message, reason);
    assert.equal(details['check'], 'policy');
  };
  return [
    {
      name: 'an accepted message arrives, with the headers that the policy adds',
      run: async () => {
        const id = await scene.send(subject.taken);
        const [message] = await until(
          async () => scene.of(id),
          (messages) => messages.length > 0,
        );
        const expected = subject.taken.headers?.(await scene.organization()) ?? {};
        for (const [name, value] of Object.entries(expected)) assert.equal(message?.headers[name], value);
      },
    },
    {
      name: '422: a rejected send returns the reason and is not stored',
      run: async () => {
        const client = await scene.client();
        const before = await client.expect(200, 'GET', '/v1/events?limit=1');
        refusal(
          await client.expect(422, 'POST', '/v1/send', {
            ...message(subject.refused),
            destination: await scene.destination(),
          }),
        );
        assert.deepEqual((await client.expect(200, 'GET', '/v1/events?limit=1'))['data'], before['data']);
      },
    },
    {
      name: '422: a rejected fan-out returns the reason',
      run: async () =>
        refusal(
          await (await scene.client()).expect(422, 'POST', '/v1/app/conformance/event', message(subject.refused)),
        ),
    },
    {
      name: '422: a rejected inbound request returns the reason, and an accepted one arrives with the added headers',
      run: async () => {
        const client = await scene.client();
        const { url } = await client.expect(201, 'POST', '/v1/endpoints', {
          slug: 'conformance-policy',
          destinations: [await scene.destination()],
        });
        const post = async ({ payload }: MessageDraft): Promise<Response> =>
          fetch(url as string, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(payload),
          });
        const [refused, taken] = [await post(subject.refused), await post(subject.taken)];
        assert.deepEqual([refused.status, taken.status], [422, 200]);
        refusal((await refused.json()) as Json);
        const { id } = (await taken.json()) as { id: string };
        const [arrived] = await until(
          async () => scene.of(id),
          (messages) => messages.length > 0,
        );
        const expected = subject.taken.headers?.(await scene.organization()) ?? {};
        for (const [name, value] of Object.entries(expected)) assert.equal(arrived?.headers[name], value);
      },
    },
    {
      name: '422: a rejected email returns the reason, also if it is scheduled, and an accepted one has the added headers',
      run: async () => {
        const { email } = subject;
        const [client, taken] = [await scene.client(), email?.taken ?? 'A message.'];
        if (email !== undefined)
          for (const more of [{}, { scheduled_at: 'in 1 day' }])
            refusal(
              await client.expect(422, 'POST', '/v1/emails', { ...EMAIL, text: email.refused, ...more }),
              email.reason,
            );
        const { id } = await client.expect(202, 'POST', '/v1/emails', { ...EMAIL, text: taken });
        const { text: raw } = await client.call('GET', `/v1/emails/${id as string}/raw`);
        const expected = email?.headers?.(await scene.organization()) ?? {};
        for (const [name, value] of Object.entries(expected))
          assert.match(raw, new RegExp(`^${name}: ${value}\\r$`, 'im'));
      },
    },
  ];
}

/** Email that the simulator sends and receives: no mail leaves the machine, and no domain is needed. */
const EMAIL = { from: 'conformance@simulator.localhost', to: 'delivered@simulator.localhost', subject: 'Conformance' };

/** Returns checks that the listener is called and that it does not delay deliveries. */
export function listenerConformance(subject: ListenerUnderTest): ConformanceCheck[] {
  const scene = new DoorScene(subject);
  const draft: MessageDraft = { event_type: 'conformance.heard', payload: { a: 1 } };
  return [
    {
      name: 'it is called once for a delivery that succeeded',
      run: async () => {
        const before = await subject.told();
        await scene.delivered(await scene.send(draft));
        const after = await until(
          () => subject.told(),
          ({ delivered }) => delivered > before.delivered,
        );
        assert.deepEqual(after, { ...before, delivered: before.delivered + 1 });
      },
    },
    {
      name: 'it is called for each failed attempt, and then for the delivery',
      run: async () => {
        const before = await subject.told();
        subject.target.answer(500);
        const id = await scene.send(draft);
        await until(
          () => subject.told(),
          ({ failed }) => failed > before.failed,
        );
        subject.target.answer(200);
        await scene.delivered(id);
        await until(
          () => subject.told(),
          ({ delivered }) => delivered > before.delivered,
        );
      },
    },
  ];
}

const message = ({ event_type, payload }: MessageDraft): MessageDraft => ({ event_type, payload });

class DoorScene {
  private made: Promise<string> | null = null;

  constructor(private readonly subject: { service(): Promise<Access> | Access; target: TargetUnderTest }) {}

  async client(): Promise<Client> {
    return new Client(await this.subject.service());
  }

  async organization(): Promise<string> {
    return (await (await this.client()).expect(200, 'GET', '/v1/org'))['id'] as string;
  }

  destination(): Promise<string> {
    return (this.made ??= this.create());
  }

  async send(draft: MessageDraft): Promise<string> {
    return (
      await (
        await this.client()
      ).expect(202, 'POST', '/v1/send', { ...message(draft), destination: await this.destination() })
    )['message_id'] as string;
  }

  async delivered(id: string): Promise<void> {
    await until(
      async () => (await this.client()).expect(200, 'GET', `/v1/events/${id}`),
      ({ status }) => status === 'delivered',
    );
  }

  of(id: string): readonly ReceivedMessage[] {
    return this.subject.target.received().filter(({ headers }) => headers['webhook-id'] === id);
  }

  private async create(): Promise<string> {
    const retry = { schedule: [0, ...Array.from({ length: 19 }, () => 1)] };
    const body = {
      name: 'Conformance',
      type: 'https',
      url: this.subject.target.url,
      retry,
      config: { circuit_breaker: { failure_threshold: 1000 } },
    };
    return (await (await this.client()).expect(201, 'POST', '/v1/destinations', body))['id'] as string;
  }
}
