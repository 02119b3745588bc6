import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Batcher, type BatchLimits } from './batcher.js';

interface Entry {
  name: number;
  bytes: number;
}

const LIMITS: BatchLimits = { entriesMax: 10, bytesMax: 100, lingerMs: 1, isOrdered: false };
const entry = (name: number, bytes = 1): Entry => ({ name, bytes });
const echo =
  (sent: number[][]) =>
  (entries: Entry[]): Promise<number[]> => {
    sent.push(entries.map(({ name }) => name));
    return Promise.resolve(entries.map(({ name }) => name));
  };

describe('Batcher', () => {
  it.each<[string, Entry[], number[][]]>([
    ['one alone', [entry(0)], [[0]]],
    ['what comes together', [entry(0), entry(1), entry(2)], [[0, 1, 2]]],
    [
      'ten entries, then the rest',
      Array.from({ length: 12 }, (_, name) => entry(name)),
      [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [10, 11],
      ],
    ],
    ['as many entries as fit into the byte limit', [entry(0, 60), entry(1, 40), entry(2, 1)], [[0, 1], [2]]],
    [
      'an entry that would exceed the byte limit in a new batch',
      [entry(0, 60), entry(1, 41), entry(2, 1)],
      [[0], [1], [2]],
    ],
    ['an entry larger than the byte limit alone', [entry(0, 1), entry(1, 500), entry(2, 1)], [[0], [1], [2]]],
  ])('sends %s', async (_title, entries, expected) => {
    const sent: number[][] = [];
    const batcher = new Batcher(LIMITS, echo(sent));

    await Promise.all(entries.map((each) => batcher.add(each)));

    expect(sent.map((batch) => batch.join())).toEqual(expected.map((batch) => batch.join()));
  });

  it('ordered: sends one batch at a time, and entries that arrive meanwhile form the next batch', async () => {
    const sent: number[][] = [];
    const answers: (() => void)[] = [];
    const batcher = new Batcher<Entry, number>({ ...LIMITS, entriesMax: 2, isOrdered: true }, (entries) => {
      sent.push(entries.map(({ name }) => name));
      return new Promise((resolve) => answers.push(() => resolve(entries.map(({ name }) => name))));
    });

    const added = [0, 1, 2, 3, 4].map((name) => batcher.add(entry(name)));
    await sleep(5);
    const underWay = sent.length;
    for (let next = 0; next < 3; next += 1) {
      answers[next]?.();
      await sleep(0);
    }

    expect(underWay).toBe(1);
    expect(sent).toEqual([[0, 1], [2, 3], [4]]);
    expect(await Promise.all(added)).toEqual([0, 1, 2, 3, 4]);
  });

  it.each([true, false])(
    'a failed batch fails all of its entries, and the next batch is sent (ordered: %s)',
    async (isOrdered) => {
      let batches = 0;
      const batcher = new Batcher<Entry, number>({ ...LIMITS, entriesMax: 2, isOrdered }, (entries) =>
        ++batches === 1 ? Promise.reject(new Error('broken')) : Promise.resolve(entries.map(({ name }) => name)),
      );

      const results = await Promise.allSettled([0, 1, 2, 3].map((name) => batcher.add(entry(name))));

      expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
    },
  );

  it('rejects an entry without an answer', async () => {
    const batcher = new Batcher<Entry, number>(LIMITS, () => Promise.resolve([7]));

    const results = await Promise.allSettled([batcher.add(entry(0)), batcher.add(entry(1))]);

    expect(results[0]).toEqual({ status: 'fulfilled', value: 7 });
    expect(results[1]).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(/no answer/) } });
  });

  it('sends each entry once and returns its own answer, in batches within the limits', async () => {
    const moves = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 130 }), pause: fc.boolean() }), {
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(moves, fc.boolean(), fc.integer({ min: 1, max: 10 }), async (entries, isOrdered, entriesMax) => {
        const sent: number[][] = [];
        let [underWay, most] = [0, 0];
        const batcher = new Batcher<Entry, number>({ ...LIMITS, entriesMax, isOrdered, lingerMs: 0 }, async (batch) => {
          sent.push(batch.map(({ name }) => name));
          most = Math.max(most, ++underWay);
          expect(batch.length).toBeLessThanOrEqual(entriesMax);
          expect(batch.length === 1 || batch.reduce((sum, { bytes }) => sum + bytes, 0) <= LIMITS.bytesMax).toBe(true);
          await sleep(0);
          underWay -= 1;
          return batch.map(({ name }) => name);
        });

        const added: Promise<number>[] = [];
        for (const [name, { bytes, pause }] of entries.entries()) {
          added.push(batcher.add({ name, bytes }));
          if (pause) await sleep(0);
        }

        expect(await Promise.all(added)).toEqual(entries.map((_, name) => name));
        expect(sent.flat()).toEqual(entries.map((_, name) => name));
        if (isOrdered) expect(most).toBeLessThanOrEqual(1);
      }),
      { numRuns: 50 },
    );
  });
});
