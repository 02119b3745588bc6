import { Webhook } from 'standardwebhooks';
import type { ReceivedRequest } from '../support/receiver.js';
import type { ApiAnswer, PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import { expectInvalid } from './answers.js';
import type { TargetPath, Targets } from './scene.js';
import { destinationAt, send, startTargets } from './scene.js';

const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

describe('signing secrets', () => {
  let server: PosthornServer;
  let targets: Targets;

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  /** Returns whether the reference library accepts the delivery with only this secret. */
  function accepts(secret: string, { rawBody, headers }: ReceivedRequest): boolean {
    try {
      new Webhook(secret).verify(rawBody, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  }

  const signatures = ({ headers }: ReceivedRequest): string[] => String(headers['webhook-signature']).split(' ');

  /** One kind of secret: the path where it is read and rotated, and a delivery signed with it. */
  interface Kind {
    path: string;
    secret(): Promise<string>;
    rotate(body?: object): Promise<ApiAnswer>;
    delivery(): Promise<ReceivedRequest>;
  }

  async function nextPost(target: TargetPath, destination: string): Promise<ReceivedRequest> {
    const before = target.posts().length;
    await send(server, destination, { payload: { amount: 12.5, name: 'é😀' } });
    return (await target.arrived(before + 1)).at(-1) as ReceivedRequest;
  }

  const KINDS: [string, () => Promise<Kind>][] = [
    [
      'a destination',
      async () => {
        const target = targets.open();
        const path = `/v1/destinations/${await destinationAt(server, target.url)}/secret`;
        return {
          path,
          secret: async () => (await server.api('GET', path)).json.secret,
          rotate: (body) => server.api('POST', `${path}/rotate`, body),
          delivery: () => nextPost(target, path.split('/')[3] ?? ''),
        };
      },
    ],
    [
      'ad-hoc URLs',
      async () => {
        const target = targets.open();
        return {
          path: '/v1/signing-secret',
          secret: async () => (await server.api('GET', '/v1/signing-secret')).json.secret,
          rotate: (body) => server.api('POST', '/v1/signing-secret/rotate', body),
          delivery: () => nextPost(target, target.url),
        };
      },
    ],
  ];

  describe.each(KINDS)('of %s', (_name, open) => {
    let kind: Kind;

    beforeEach(async () => {
      kind = await open();
    });

    it('one signature, which the reference library accepts with the secret', async () => {
      const secret = await kind.secret();

      const delivery = await kind.delivery();

      expect(secret).toMatch(SECRET);
      expect(signatures(delivery)).toHaveLength(1);
      expect(accepts(secret, delivery)).toBe(true);
      expect(accepts(secret, { ...delivery, rawBody: Buffer.concat([delivery.rawBody, Buffer.from(' ')]) })).toBe(
        false,
      );
    });

    it('during the grace both secrets sign, and an older secret does not', async () => {
      const first = await kind.secret();

      const {
        status,
        json: { secret: second },
      } = await kind.rotate();
      const during = await kind.delivery();
      const {
        json: { secret: third },
      } = await kind.rotate({ grace_seconds: 60 });
      const later = await kind.delivery();

      expect(status).toBe(200);
      expect(second).toMatch(SECRET);
      expect(await kind.secret()).toBe(third);
      expect(new Set([first, second, third]).size).toBe(3);
      expect(signatures(during)).toHaveLength(2);
      expect([first, second, third].map((secret) => accepts(secret, during))).toEqual([true, true, false]);
      expect([first, second, third].map((secret) => accepts(secret, later))).toEqual([false, true, true]);
    });

    it('without a grace period, the old secret is invalid at once', async () => {
      const old = await kind.secret();

      const {
        json: { secret },
      } = await kind.rotate({ grace_seconds: 0 });
      const delivery = await kind.delivery();

      expect(signatures(delivery)).toHaveLength(1);
      expect([accepts(old, delivery), accepts(secret, delivery)]).toEqual([false, true]);
    });

    it('a grace ends automatically', async () => {
      const old = await kind.secret();
      await kind.rotate({ grace_seconds: 1 });
      const rotatedAtMs = Date.now();

      let delivery = await kind.delivery();
      while (accepts(old, delivery) && Date.now() < rotatedAtMs + 10_000) delivery = await kind.delivery();

      expect(accepts(old, delivery)).toBe(false);
      expect(accepts(await kind.secret(), delivery)).toBe(true);
      expect(delivery.at.getTime()).toBeGreaterThanOrEqual(rotatedAtMs + 900);
    });

    it.each([-1, 604_801, 'an hour'])('422: a grace of %p changes nothing', async (grace_seconds) => {
      const before = await kind.secret();

      expectInvalid(await kind.rotate({ grace_seconds }), 'schema', 'grace_seconds');
      expect(await kind.secret()).toBe(before);
    });

    it('the same Idempotency-Key twice rotates once', async () => {
      const key = crypto.randomUUID();
      const rotate = (): Promise<ApiAnswer> =>
        server.api('POST', `${kind.path}/rotate`, {}, { 'idempotency-key': key });

      const [first, second] = [await rotate(), await rotate()];

      expect(second.text).toBe(first.text);
      expect(second.headers.get('idempotent-replayed')).toBe('true');
    });
  });

  it('a destination can be created with a secret that its receiver already has', async () => {
    const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const target = targets.open();

    const id = await destinationAt(server, target.url, { secret });

    expect((await server.api('GET', `/v1/destinations/${id}/secret`)).json).toEqual({ secret, public_key: null });
    expect(accepts(secret, await nextPost(target, id))).toBe(true);
  });

  const encoded = (bytes: number): string => Buffer.alloc(bytes).toString('base64');

  it.each(['', 'whsec_', 'whsec_####', `whsec_${encoded(23)}`, `whsec_${encoded(65)}`, `whpk_${encoded(32)}`])(
    '422: the secret %p is invalid',
    async (secret) => {
      const answer = await server.api('POST', '/v1/destinations', {
        name: 'A',
        type: 'https',
        url: targets.open().url,
        secret,
      });

      expectInvalid(answer, 'schema', 'secret');
    },
  );

  it('secrets and credentials appear only in their own responses', async () => {
    const secret = `whsec_${Buffer.from('0123456789abcdefghijklmnop').toString('base64')}`;
    const id = await destinationAt(server, targets.open().url, { secret });
    const credentials = { accessKeyId: 'AKIAPOSTHORNTEST', secretAccessKey: 'do-not-show-this-to-anybody' };

    const answers = [
      await server.api('GET', `/v1/destinations/${id}`),
      await server.api('GET', '/v1/destinations?limit=100'),
      await server.api('PATCH', `/v1/destinations/${id}`, { name: 'B', secret: 'whsec_other', credentials }),
      await server.api('POST', '/v1/destinations', { name: 'C', type: 'https', url: targets.open().url, credentials }),
      await server.api('POST', '/v1/destinations', { name: 'D', type: 'sqs', config: {}, credentials }),
      await server.api('POST', `/v1/destinations/${id}/validate`),
    ];

    for (const { text } of answers) {
      expect(text).not.toContain(secret.slice(6));
      expect(text).not.toContain('do-not-show');
    }
    expect(server.logs()).not.toContain(secret.slice(6));
    expect((await server.api('GET', `/v1/destinations/${id}/secret`)).json).toEqual({ secret, public_key: null });
  });
});
