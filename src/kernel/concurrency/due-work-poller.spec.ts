import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DueWorkPoller } from './due-work-poller.js';

beforeEach(() => {
  jest.useFakeTimers();
  Logger.overrideLogger(false);
});

afterEach(() => {
  jest.useRealTimers();
  Logger.overrideLogger(true);
});

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

function arrange(answer: () => Record<string, number | null> | Error, names: readonly string[] = ['due', 'mail']) {
  const asked: string[] = [];
  const woken: string[] = [];
  const startedMs = performance.now();
  const queryPrepared = async <R>({ text }: { text: string }): Promise<R[]> => {
    asked.push(text);
    const seen = answer();
    if (seen instanceof Error) throw seen;
    return [seen] as R[];
  };
  const dueWork = new DueWorkPoller(
    { queryPrepared },
    { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
  );
  for (const name of names)
    dueWork.register({
      name,
      inMs: `select ${name}`,
      wake: () => void woken.push(`${name} ${Math.round(performance.now() - startedMs)}`),
    });
  return { dueWork, asked, woken };
}

describe('DueWorkPoller', () => {
  it('polls all work in one statement, once a second', async () => {
    const { dueWork, asked } = arrange(() => ({ due: null, mail: null }));

    await pass(2_500);

    expect(asked).toEqual(Array(3).fill('select (select due)::float8 as "due", (select mail)::float8 as "mail"'));
    await dueWork.onApplicationShutdown();
  });

  it.each([
    { what: 'that is there', seen: { due: 0, mail: null }, woken: ['due 0'] },
    { what: 'that has long been there', seen: { due: -5_000, mail: null }, woken: ['due 0'] },
    { what: 'that is due before the next look, at its time', seen: { due: 300.2, mail: null }, woken: ['due 302'] },
    { what: 'that is due later, by a later look', seen: { due: 1_001, mail: null }, woken: [] },
    { what: 'of several', seen: { due: 10, mail: 0 }, woken: ['mail 0', 'due 11'] },
    { what: 'that is not there', seen: { due: null, mail: null }, woken: [] },
  ])('wakes for something $what', async ({ seen, woken: expected }) => {
    const { dueWork, woken } = arrange(() => seen);

    await pass(999);

    expect(woken).toEqual(expected);
    await dueWork.onApplicationShutdown();
  });

  it('wakes for work that this process schedules itself: once, for the earliest, and only if it is registered', async () => {
    const { dueWork, woken } = arrange(() => ({ due: null, mail: null }));
    await pass(100);

    for (const inMs of [300, 100, 200, 5_000]) dueWork.schedule('due', inMs);
    dueWork.schedule('parked', 0);
    await pass(800);

    expect(woken).toEqual(['due 201']);
    await dueWork.onApplicationShutdown();
  });

  it('lets loops rest while polling works, and poll normally while polls fail or hang', async () => {
    let answer: Record<string, number | null> | Error = new Error('away');
    const { dueWork, woken } = arrange(() => answer);

    expect(dueWork.restMs(200)).toBe(200);
    await pass(0);
    expect(dueWork.restMs(200)).toBe(200);
    answer = { due: null, mail: null };
    await pass(1_000);
    expect(dueWork.restMs(200)).toBe(30_000);
    woken.length = 0;
    answer = new Error('away');
    await pass(1_000);

    expect(dueWork.restMs(200)).toBe(200);
    expect(woken.map((each) => each.split(' ')[0])).toEqual(['due', 'mail']);
    await dueWork.onApplicationShutdown();
  });

  it('is trusted for three seconds after its last successful poll', async () => {
    let isHanging = false;
    const queryPrepared = <R>(): Promise<R[]> =>
      isHanging ? new Promise(() => undefined) : Promise.resolve([{} as R]);
    const dueWork = new DueWorkPoller(
      { queryPrepared },
      { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    );
    dueWork.register({ name: 'due', inMs: 'select 0', wake: () => undefined });
    await pass(0);
    isHanging = true;

    await pass(2_999);
    expect(dueWork.restMs(200)).toBe(30_000);
    await pass(1);

    expect(dueWork.restMs(200)).toBe(200);
    // Not awaited: it resolves only when the loop's own deadline ends the hanging poll.
    void dueWork.onApplicationShutdown();
    await pass(80_000);
  });
});
