import type { EgressAgent, EgressAnswer, EgressRequest } from '#egress/agent.js';
import type { EgressGate } from '#egress/gate.js';
import type { Clock } from '#kernel/clock.js';
import { Certificates } from './certificates.js';

const HOUR_MS = 3_600_000;
const ONE = { organizationId: 'one', endpointId: 'a' };
const TWO = { organizationId: 'two', endpointId: 'b' };
const isUsable = (text: string): boolean => text !== 'a page';

interface Scene {
  certificates: Certificates;
  /** Texts that the fake server returns, by URL. Any other URL returns 404. */
  published: Map<string, string>;
  calls: string[];
  nowMs: number;
  text(url: string, more?: { asker?: typeof ONE; maxAgeMs?: number }): Promise<string | undefined>;
}

function arrange(): Scene {
  const scene: Scene = {
    published: new Map(),
    calls: [],
    nowMs: 0,
    certificates: null as unknown as Certificates,
    text: () => Promise.reject(new Error()),
  };
  const exchange = ({ url }: EgressRequest): Promise<EgressAnswer> => {
    scene.calls.push(String(url));
    const text = scene.published.get(String(url));
    return Promise.resolve({
      kind: 'response',
      status: text === undefined ? 404 : 200,
      headers: {},
      body: Buffer.from(text ?? ''),
      truncated: false,
      durationMs: 1,
    });
  };
  const gate = { check: (url: string) => ({ ok: true, url }) } as unknown as EgressGate;
  scene.certificates = new Certificates({ exchange } as unknown as EgressAgent, gate, {
    monotonicMs: () => scene.nowMs,
  } as Clock);
  scene.text = async (url, { asker = ONE, maxAgeMs } = {}) =>
    (await scene.certificates.get(url, asker, isUsable, maxAgeMs))?.text;
  return scene;
}

describe('Certificates', () => {
  it('a text is downloaded once an hour, by any number of concurrent callers of any organization', async () => {
    const scene = arrange();
    scene.published.set('u', 'first');

    expect(await Promise.all([scene.text('u'), scene.text('u'), scene.text('u', { asker: TWO })])).toEqual([
      'first',
      'first',
      'first',
    ]);
    scene.published.set('u', 'second');
    scene.nowMs = HOUR_MS - 1;
    expect(await scene.text('u')).toBe('first');
    scene.nowMs = HOUR_MS;
    expect(await scene.text('u')).toBe('second');
    expect(scene.calls).toEqual(['u', 'u']);
  });

  it('a caller that needs a newer text causes one download per maximum age', async () => {
    const scene = arrange();
    scene.published.set('u', 'first');
    await scene.text('u');
    scene.published.set('u', 'second');

    scene.nowMs = 59_999;
    expect(await scene.text('u', { maxAgeMs: 60_000 })).toBe('first');
    scene.nowMs = 60_000;
    expect(await Promise.all(Array.from({ length: 50 }, () => scene.text('u', { maxAgeMs: 60_000 })))).toEqual(
      Array.from({ length: 50 }, () => 'second'),
    );
    expect(scene.calls).toHaveLength(2);
  });

  it.each([
    ['away', undefined],
    ['responding with something else', 'a page'],
  ])(
    'with the server %s, the last text is used for six hours, and a download is tried once a minute',
    async (_what, instead) => {
      const scene = arrange();
      scene.published.set('u', 'first');
      await scene.text('u');
      if (instead === undefined) scene.published.delete('u');
      else scene.published.set('u', instead);

      scene.nowMs = HOUR_MS;
      for (let n = 0; n < 10; n += 1) expect(await scene.text('u')).toBe('first');
      expect(scene.calls).toHaveLength(2);
      scene.nowMs += 60_000;
      expect(await scene.text('u')).toBe('first');
      expect(scene.calls).toHaveLength(3);

      scene.nowMs = 6 * HOUR_MS;
      expect(await scene.text('u')).toBeUndefined();
      scene.published.set('u', 'second');
      scene.nowMs += 60_000;
      expect(await scene.text('u')).toBe('second');
    },
  );

  it('a failed attempt to get a newer text keeps the older one', async () => {
    const scene = arrange();
    scene.published.set('u', 'first');
    await scene.text('u');
    scene.published.delete('u');

    scene.nowMs = 60_000;

    expect(await scene.certificates.get('u', ONE, isUsable, 60_000)).toEqual({ text: 'first', ageMs: 60_000 });
    expect(await scene.text('u')).toBe('first');
  });

  it('a failed download is tried again after ten seconds, and no sooner', async () => {
    const scene = arrange();

    expect([await scene.text('u'), await scene.text('u')]).toEqual([undefined, undefined]);
    scene.published.set('u', 'first');
    scene.nowMs = 9_999;
    expect(await scene.text('u')).toBeUndefined();
    scene.nowMs = 10_000;
    expect(await scene.text('u')).toBe('first');
    expect(scene.calls).toHaveLength(2);
  });

  it("one sender's thousands of invented URLs affect neither the downloads nor the texts of another tenant", async () => {
    const scene = arrange();
    for (const url of ['kept', 'new']) scene.published.set(url, url);
    await scene.text('kept', { asker: TWO });

    for (let n = 0; n < 5_000; n += 1) expect(await scene.text(`invented ${n}`)).toBeUndefined();

    expect(scene.calls).toHaveLength(1 + 10);
    scene.published.delete('kept');
    expect([await scene.text('kept', { asker: TWO }), await scene.text('new', { asker: TWO })]).toEqual([
      'kept',
      'new',
    ]);
  });

  it('a tenant with many existing URLs evicts only its own texts', async () => {
    const scene = arrange();
    scene.published.set('kept', 'kept');
    await scene.text('kept', { asker: TWO });

    for (let n = 0; n < 600; n += 1) {
      scene.published.set(`own ${n}`, 'own');
      scene.nowMs += 10_000;
      await scene.text(`own ${n}`, {
        asker: { organizationId: 'one', endpointId: `e${n % 20}` },
        maxAgeMs: 100 * HOUR_MS,
      });
    }
    const calls = scene.calls.length;

    expect(calls).toBe(601);
    expect(await scene.text('kept', { asker: TWO, maxAgeMs: 100 * HOUR_MS })).toBe('kept');
    expect(await scene.text('own 599', { maxAgeMs: 100 * HOUR_MS })).toBe('own');
    expect(scene.calls).toHaveLength(calls);
    await scene.text('own 0', { maxAgeMs: 100 * HOUR_MS });
    expect(scene.calls).toHaveLength(calls + 1);
  });

  it('a known text is refreshed even if its tenant has used up its downloads', async () => {
    const scene = arrange();
    scene.published.set('u', 'first');
    await scene.text('u');
    scene.nowMs = HOUR_MS;
    scene.published.set('u', 'second');

    for (let n = 0; n < 100; n += 1) await scene.text(`invented ${n}`);

    expect(await scene.text('u')).toBe('second');
  });
});
