import { jest } from '@jest/globals';
import { MailGate } from './mail-gate.js';

describe('MailGate', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const gateAt = (perSecond: number): MailGate => {
    const gate = new MailGate(() => Date.now());
    gate.pace = perSecond;
    return gate;
  };

  it('lets every message pass at once while there is no limit', async () => {
    const gate = gateAt(Infinity);
    expect(await Promise.all(Array.from({ length: 1_000 }, () => gate.enter(10)))).toEqual(
      Array.from({ length: 1_000 }, () => true),
    );
    expect([gate.take(96), gate.passed]).toEqual([96, 1_096]);
  });

  it('lets a limited number pass per second, in the order of arrival', async () => {
    const gate = gateAt(10);
    const order: number[] = [];
    for (let n = 0; n < 30; n += 1) void gate.enter(60_000).then(() => order.push(n));

    await jest.advanceTimersByTimeAsync(2_200);

    expect(order.length).toBeGreaterThanOrEqual(20);
    expect(order.length).toBeLessThanOrEqual(22);
    expect(order).toEqual(order.map((_, n) => n));
  });

  it('lets messages pass in bursts, so that they are written together', async () => {
    const gate = gateAt(10);
    const at: number[] = [];
    const fromMs = Date.now();
    for (let n = 0; n < 20; n += 1) void gate.enter(60_000).then(() => at.push(Date.now() - fromMs));

    await jest.advanceTimersByTimeAsync(2_200);

    // If the twenty messages passed the gate at different times, each would need its own commit.
    expect(new Set(at).size).toBeLessThanOrEqual(2);
    expect(at.length).toBe(20);
  });

  it.each([
    [12.5, 1_920, 24],
    [48, 500, 24],
    [100, 500, 50],
  ])('at %d per second there is a burst every %d ms, of %d', async (perSecond, everyMs, size) => {
    const gate = gateAt(perSecond);
    const bursts = new Map<number, number>();
    const fromMs = Date.now();
    for (let n = 0; n < 400; n += 1)
      void gate.enter(60_000).then(() => bursts.set(Date.now(), (bursts.get(Date.now()) ?? 0) + 1));

    await jest.advanceTimersByTimeAsync(6 * everyMs);

    const [, ...after] = [...bursts];
    expect(after.length).toBeGreaterThanOrEqual(4);
    for (const [place, [atMs, count]] of after.entries()) {
      expect(Math.abs(count - size)).toBeLessThanOrEqual(3);
      expect(atMs - fromMs).toBeGreaterThanOrEqual((place + 1) * everyMs);
    }
  });

  it('rejects after the maximum wait, and lets the rest pass when the limit ends', async () => {
    const gate = gateAt(0.001);
    const [short, long] = [gate.enter(1_000), gate.enter(60_000)];
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await short).toBe(false);

    gate.pace = Infinity;

    expect(await long).toBe(true);
  });

  it('opened for a number, lets that many waiting messages pass, and never a negative number after a large one', async () => {
    const gate = gateAt(0.001);
    let entered = 0;
    for (let n = 0; n < 20; n += 1) void gate.enter(60_000).then((isIn) => (entered += Number(isIn)));

    gate.openFor(8);
    await jest.advanceTimersByTimeAsync(100);
    expect(entered).toBe(8);

    gate.openFor(8);
    gate.weigh(10 * 1024 * 1024);
    expect([gate.take(96), gate.take(1)]).toEqual([0, 0]);
    gate.pace = Infinity;
    expect(gate.take(96)).toBe(96);
  });

  it('a large message counts as many small ones, and returned capacity does not count', async () => {
    const gate = gateAt(100);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(gate.take(200)).toBe(100);
    gate.giveBack(100);
    expect(gate.take(1)).toBe(1);
    // This message counts as 399 small messages. At 100 messages per second, the gate admits no message for three more
    // seconds.
    gate.weigh(64 * 1024 * 399);
    await jest.advanceTimersByTimeAsync(2_900);
    expect(gate.take(5)).toBe(0);
    await jest.advanceTimersByTimeAsync(200);
    expect(gate.take(5)).toBeGreaterThan(0);
  });
});
