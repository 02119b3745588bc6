import { jest } from '@jest/globals';
import type { Pressure } from '#engine/pressure.js';
import { Clock } from '#kernel/clock.js';
import { Metrics } from '#kernel/observability/metrics.js';
import { AcceptPace, type Coming } from './accept-pace.js';
import { AcceptPaceMetrics } from './accept-pace.metrics.js';
import type { DeliveryHandoff } from './delivery-handoff.js';

class TimersClock extends Clock {
  override now = (): Date => new Date();
  override nowMs = (): number => Date.now();
  override random = (): number => 0;
}

const NONE = { ready: 0, drainPerSecond: 0 };
const FULL = { ready: 1_000, drainPerSecond: 1_000 };

function arrange() {
  const pressures = new Map<number, Pressure>();
  const handoff = {
    pressure: (environmentId: number) => {
      const pressure = pressures.get(environmentId) ?? NONE;
      return pressure.ready === 0 ? null : pressure;
    },
  } as unknown as DeliveryHandoff;
  const metrics = new Metrics();
  const pace = new AcceptPace(handoff, new TimersClock(), new AcceptPaceMetrics(metrics));
  const accepted: string[] = [];
  const refused: [string, string][] = [];
  const commits = new Map<string, () => void>();
  const enter = (name: string, more: Partial<Coming> = {}, isCommitted = true): void => {
    const coming = { environmentId: 1, deliveries: 10, bytes: 1_000, caller: { isGone: () => false }, ...more };
    const accept = (): Promise<void> => {
      accepted.push(name);
      return isCommitted ? Promise.resolve() : new Promise((resolve) => commits.set(name, resolve));
    };
    pace
      .enter(coming, accept)
      .catch((error: { type?: string; message: string }) => refused.push([name, error.message]));
  };
  const press = (environmentId: number, pressure: Pressure): void => void pressures.set(environmentId, pressure);
  const figure = async (name: string): Promise<string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`posthorn_accept_pace_${name}`));
  return { pace, enter, press, accepted, refused, commits, figure };
}

describe('accepting under pressure', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms).then(() => undefined);

  it('does not delay requests while there is no pressure, or while few deliveries are ready', () => {
    const { enter, press, accepted } = arrange();

    enter('first');
    press(1, { ready: 50, drainPerSecond: 0 });
    enter('second');

    expect(accepted).toEqual(['first', 'second']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('delays requests until there is capacity, in the order of arrival, and newcomers queue behind', async () => {
    const { enter, press, accepted } = arrange();
    press(1, FULL);
    enter('first');
    enter('second');
    await pass(500);
    expect(accepted).toEqual([]);

    press(1, { ready: 95, drainPerSecond: 1_000 });
    enter('third');
    await pass(10);

    // There is capacity for five deliveries. A request with ten deliveries is still accepted. Later requests wait until
    // these ten deliveries are sent.
    expect(accepted).toEqual(['first']);
    press(1, NONE);
    await pass(10);
    expect(accepted).toEqual(['first', 'second', 'third']);
  });

  it('counts released requests that are not committed yet', async () => {
    const { enter, press, accepted, commits } = arrange();
    press(1, FULL);
    enter('first', {}, false);
    enter('second');
    press(1, { ready: 95, drainPerSecond: 1_000 });
    await pass(200);
    expect(accepted).toEqual(['first']);

    commits.get('first')?.();
    await pass(10);

    expect(accepted).toEqual(['first', 'second']);
  });

  it('delays a request for two seconds at most, and then accepts it', async () => {
    const { enter, press, accepted, refused, figure } = arrange();
    press(1, FULL);
    enter('first');
    await pass(1_980);
    expect(accepted).toEqual([]);

    await pass(30);

    expect([accepted, refused]).toEqual([['first'], []]);
    expect(await figure('waits_total{')).toEqual(['posthorn_accept_pace_waits_total{end="overdue"} 1']);
    expect(await figure('waiting ')).toEqual(['posthorn_accept_pace_waiting 0']);
  });

  it('does not delay requests because of another environment', async () => {
    const { enter, press, accepted } = arrange();
    press(1, FULL);
    enter('flood');
    press(2, { ready: 10, drainPerSecond: 0 });
    enter('quiet', { environmentId: 2 });
    await pass(100);

    expect(accepted).toEqual(['quiet']);
  });

  it('does not delay a request if no client is waiting', () => {
    const { enter, press, accepted } = arrange();
    press(1, FULL);

    enter('own', { caller: null });

    expect(accepted).toEqual(['own']);
  });

  it('stops waiting when the client disconnects, and accepts nothing', async () => {
    const { enter, press, accepted, refused } = arrange();
    let isGone = false;
    press(1, FULL);
    enter('gone', { caller: { isGone: () => isGone } });
    enter('there');
    await pass(100);

    isGone = true;
    await pass(10);
    press(1, NONE);
    await pass(10);

    expect(accepted).toEqual(['there']);
    expect(refused).toEqual([['gone', 'The client disconnected before there was capacity. Nothing was accepted.']]);
  });

  it('counts a client that disconnected as gone, and keeps no capacity for it', async () => {
    const { enter, press, accepted, figure } = arrange();
    press(1, FULL);
    enter('gone', { deliveries: 1_000, caller: { isGone: () => true } });
    await pass(20);

    expect(await figure('waits_total{')).toEqual(['posthorn_accept_pace_waits_total{end="gone"} 1']);
    expect(await figure('waiting ')).toEqual(['posthorn_accept_pace_waiting 0']);
    expect(jest.getTimerCount()).toBe(0);
    press(1, { ready: 10, drainPerSecond: 0 });
    enter('next');
    expect(accepted).toEqual(['next']);
  });

  it('stops waiting at shutdown: waiting requests are accepted, and later ones are not delayed', async () => {
    const { pace, enter, press, accepted } = arrange();
    press(1, FULL);
    enter('first');
    enter('second');

    pace.beforeApplicationShutdown();
    await pass(0);
    enter('third');

    expect(accepted).toEqual(['first', 'second', 'third']);
    await pass(20);
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each([
    ['4,000 requests', 4_000, 1_000],
    ['64 MiB', 64, 1024 * 1024],
  ])('lets at most %s wait, and accepts further ones immediately', async (_what, count, bytes) => {
    const { enter, press, accepted, figure } = arrange();
    press(1, FULL);
    for (let i = 0; i < count; i += 1) enter(`waiting ${i}`, { bytes });
    expect(accepted).toEqual([]);

    enter('one too many', { bytes });

    expect(accepted).toEqual(['one too many']);
    expect(await figure('crowded_total ')).toEqual(['posthorn_accept_pace_crowded_total 1']);
    expect(await figure('waiting ')).toEqual([`posthorn_accept_pace_waiting ${count}`]);
  });
});
