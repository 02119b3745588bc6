import { generateKeyPairSync, sign } from 'node:crypto';
import type { EgressAgent, EgressAnswer } from '#egress/agent.js';
import type { EgressGate } from '#egress/gate.js';
import { genericScheme } from '#engine/inbound/generic.js';
import type { ReceivedRequest } from '#engine/inbound/request.js';
import type { Clock } from '#kernel/clock.js';
import { ApiError } from '#kernel/errors.js';
import { Certificates } from './certificates.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { Verifying } from './verifying.js';

const HOUR_MS = 3_600_000;
const SCHEME = genericScheme('jwt', { jwksUrl: 'https://issuer.example/jwks', issuer: 'acme' });
const KEYS = Object.fromEntries(['one', 'two', 'stranger'].map((kid) => [kid, generateKeyPairSync('ed25519')]));

interface Scene {
  /** Returns the verdict on a token signed with key `kid`. The key `stranger` is never published. */
  verdict(kid: string): Promise<string>;
  /** Names of the published keys. `null` while the server is unavailable. */
  published: string[] | null;
  downloads: number;
  nowMs: number;
}

function arrange(): Scene {
  const scene: Scene = {
    published: ['one'],
    downloads: 0,
    nowMs: Date.UTC(2026, 10, 21),
    verdict: () => Promise.reject(new Error()),
  };
  const exchange = (): Promise<EgressAnswer> => {
    scene.downloads += 1;
    if (scene.published === null)
      return Promise.resolve({ kind: 'error', error: 'connection', detail: 'refused', durationMs: 1 });
    const keys = scene.published.map((kid) => ({ ...KEYS[kid]?.publicKey.export({ format: 'jwk' }), kid }));
    return Promise.resolve({
      kind: 'response',
      status: 200,
      headers: {},
      body: Buffer.from(JSON.stringify({ keys })),
      truncated: false,
      durationMs: 1,
    });
  };
  const clock = { nowMs: () => scene.nowMs, monotonicMs: () => scene.nowMs } as Clock;
  const certificates = new Certificates(
    { exchange } as unknown as EgressAgent,
    { check: (url: string) => ({ ok: true, url }) } as unknown as EgressGate,
    clock,
  );
  const verifying = new Verifying(certificates, clock);
  scene.verdict = async (kid) => {
    const content = [
      { alg: 'EdDSA', kid },
      { iss: 'acme', iat: Math.floor(scene.nowMs / 1000) },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const key = (KEYS[kid] ?? KEYS['stranger'])?.privateKey;
    if (key === undefined) throw new Error(kid);
    const headers: [string, string][] = [
      ['authorization', `Bearer ${content}.${sign(null, Buffer.from(content), key).toString('base64url')}`],
    ];
    const request: ReceivedRequest = {
      method: 'POST',
      path: '',
      query: '',
      url: '',
      headers,
      body: Buffer.from('{}'),
      ip: '203.0.113.7',
    };
    try {
      return (
        await verifying.verify({ environmentId: 1, id: 'e', scheme: SCHEME } as LiveEndpoint, request, [], undefined)
      ).verification;
    } catch (error) {
      if (error instanceof ApiError && error.type === 'unavailable') return 'unavailable';
      throw error;
    }
  };
  return scene;
}

describe('a key set that is rotated', () => {
  it('a new key verifies after one more download, however many requests name it', async () => {
    const scene = arrange();
    expect(await scene.verdict('one')).toBe('verified');
    scene.published = ['one', 'two'];
    scene.nowMs += 60_000;

    const verdicts = await Promise.all(Array.from({ length: 20 }, () => scene.verdict('two')));

    expect(verdicts).toEqual(Array.from({ length: 20 }, () => 'verified'));
    expect([await scene.verdict('one'), scene.downloads]).toEqual(['verified', 2]);
  });

  it('a removed key no longer verifies after the next download: with the next new key, or after an hour', async () => {
    const scene = arrange();
    await scene.verdict('one');
    scene.published = ['two'];

    scene.nowMs += 60_000;
    expect([await scene.verdict('one'), await scene.verdict('two'), await scene.verdict('one')]).toEqual([
      'verified',
      'verified',
      'failed',
    ]);
    scene.published = [];
    scene.nowMs += HOUR_MS;
    expect(await scene.verdict('two')).toBe('failed');
  });

  it('unpublished keys cause at most one download a minute, and are rejected', async () => {
    const scene = arrange();
    await scene.verdict('one');

    for (let second = 0; second < 600; second += 1) {
      scene.nowMs += 1_000;
      expect(await scene.verdict(`unknown ${second}`)).toBe('failed');
    }

    expect(scene.downloads).toBe(1 + 10);
    expect(await scene.verdict('one')).toBe('verified');
  });

  it('with the server unavailable, known keys verify for six hours, and the validity of unknown keys is undetermined', async () => {
    const scene = arrange();
    await scene.verdict('one');
    scene.published = null;

    scene.nowMs += 2 * HOUR_MS;
    expect([await scene.verdict('one'), await scene.verdict('two'), await scene.verdict('one')]).toEqual([
      'verified',
      'unavailable',
      'verified',
    ]);
    expect(scene.downloads).toBe(2);
    scene.nowMs += 4 * HOUR_MS;
    expect(await scene.verdict('one')).toBe('unavailable');
    scene.published = ['one'];
    scene.nowMs += 60_000;
    expect(await scene.verdict('one')).toBe('verified');
  });

  it('an unknown key while the server is unavailable does not affect known keys', async () => {
    const scene = arrange();
    await scene.verdict('one');
    scene.published = null;
    scene.nowMs += 60_000;

    expect([await scene.verdict('two'), await scene.verdict('one')]).toEqual(['unavailable', 'verified']);
  });
});
