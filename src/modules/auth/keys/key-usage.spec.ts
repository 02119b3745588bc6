import { KeyUsage } from './key-usage.js';
import type { KeysStore, KeyUse } from './keys.store.js';

const use = (keyId: string, atMs: number): KeyUse => ({ environmentId: 1, keyId, at: new Date(atMs) });

function arrange(): { usage: KeyUsage; written: KeyUse[][]; store: { isAway: boolean } } {
  const written: KeyUse[][] = [];
  const store = { isAway: false };
  const keys = {
    noteUses: (uses: KeyUse[]) => {
      if (store.isAway) return Promise.reject(new Error('storage is away'));
      written.push(uses);
      return Promise.resolve();
    },
  } as unknown as KeysStore;
  return { usage: new KeyUsage(keys), written, store };
}

describe('KeyUsage', () => {
  it('writes the last use of every key in one statement, and runs none if there are no uses', async () => {
    const { usage, written } = arrange();

    usage.note(use('a', 1));
    usage.note(use('b', 2));
    usage.note(use('a', 3));
    await usage.write();
    await usage.write();

    expect(written).toEqual([[use('a', 3), use('b', 2)]]);
  });

  it('keeps uses that could not be written, and replaces them by newer ones', async () => {
    const { usage, written, store } = arrange();
    usage.note(use('a', 1));
    usage.note(use('b', 1));

    store.isAway = true;
    const failing = usage.write();
    usage.note(use('a', 5));
    await expect(failing).rejects.toThrow('storage is away');
    store.isAway = false;
    await usage.write();

    expect(written).toEqual([[use('a', 5), use('b', 1)]]);
  });

  it('holds at most 10,000 keys, and still updates the keys that it holds', async () => {
    const { usage, written } = arrange();

    for (let i = 0; i < 10_500; i += 1) usage.note(use(`key ${i}`, 1));
    usage.note(use('key 0', 2));
    await usage.write();

    expect(written[0]).toHaveLength(10_000);
    expect(written[0]?.[0]).toEqual(use('key 0', 2));
  });
});
