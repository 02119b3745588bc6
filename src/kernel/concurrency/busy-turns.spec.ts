import type { Clock } from '../clock.js';
import { BusyTurns } from './busy-turns.js';

const turnsAt = (monotonicMs: () => number): BusyTurns => new BusyTurns({ monotonicMs } as Clock);

describe('turns on the event loop', () => {
  it('let other work run between two pieces of long work', async () => {
    let nowMs = 1_000;
    const turns = turnsAt(() => nowMs);
    const order: string[] = [];
    const other = (): void => void (order.length < 20 && (order.push('other'), setImmediate(other)));
    setImmediate(other);

    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        await turns.take();
        order.push(name);
        nowMs += 100;
      }),
    );

    expect(order.filter((name, at) => name !== 'other' && order[at - 1] !== 'other')).toEqual([]);
    expect(order.filter((name) => name !== 'other')).toEqual(['a', 'b', 'c']);
  });

  it('do not wait between pieces of short work', async () => {
    const turns = turnsAt(() => 1_000);
    await turns.take();
    let isLater = false;
    setImmediate(() => (isLater = true));

    for (let i = 0; i < 100; i += 1) await turns.take();

    expect(isLater).toBe(false);
  });
});
