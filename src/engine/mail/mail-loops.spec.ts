import { isLooping } from './mail-loops.js';
import { fieldsOf } from './message-head.js';

const loops = (hops: readonly string[]): boolean =>
  isLooping(fieldsOf(Buffer.from(hops.map((hop) => `Received: ${hop}\r\n`).join(''))), 'mx.posthorn.example');
const times = (count: number, hop: string): string[] => Array.from({ length: count }, () => hop);

describe('isLooping', () => {
  it('more than a hundred hosts are a loop', () => {
    expect([loops(times(100, 'from a by b.example; now')), loops(times(101, 'from a by b.example; now'))]).toEqual([
      false,
      true,
    ]);
  });

  it('more than four passes through this host are a loop, with its name in any case', () => {
    const own = 'from a.example by MX.posthorn.example (1.2.3.4) with ESMTP; now';

    expect([loops(times(4, own)), loops(times(5, own))]).toEqual([false, true]);
  });

  it('hosts whose names only resemble this host do not count', () => {
    expect(
      loops([
        ...times(9, 'from mx.posthorn.example by b.example; now'),
        ...times(9, 'from a by mx.posthorn.example.evil.example; now'),
      ]),
    ).toBe(false);
  });
});
