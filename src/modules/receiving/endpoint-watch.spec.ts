import { SystemClock } from '#kernel/clock.js';
import type { Signal } from '#modules/system-events/contract.js';
import { SystemEvents } from '#modules/system-events/contract.js';
import type { EndpointSummary } from './contract.js';
import { EndpointWatch } from './endpoint-watch.js';

const HOUR_MS = 3_600_000;
const EVENT = '019a9f65-0000-7000-8000-000000000001';
const ENDPOINT: EndpointSummary = {
  environmentId: 1,
  id: '019a9f65-0000-7000-8000-00000000000a',
  path: 'acme/shop',
  status: 'active',
  routes: [],
};

class Noted extends SystemEvents {
  readonly signals: Signal[] = [];
  fails = false;

  override async note(signal: Signal): Promise<void> {
    if (this.fails) throw new Error('Storage is away.');
    this.signals.push(signal);
  }

  override on(): void {
    throw new Error('Nobody listens here.');
  }
}

class SetClock extends SystemClock {
  atMs = 1_000_000;

  override nowMs(): number {
    return this.atMs;
  }
}

function watch(): {
  noted: Noted;
  clock: SetClock;
  fail: (times: number, endpoint?: EndpointSummary) => Promise<void>;
  succeed: () => void;
} {
  const [noted, clock] = [new Noted(), new SetClock()];
  const watching = new EndpointWatch(noted, clock);
  return {
    noted,
    clock,
    fail: async (times, endpoint = ENDPOINT) => {
      for (let i = 0; i < times; i += 1) {
        watching.countVerification(endpoint, EVENT, true);
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    succeed: () => watching.countVerification(ENDPOINT, EVENT, false),
  };
}

describe('EndpointWatch', () => {
  it('reports the tenth failure in a row, and not the ninth', async () => {
    const { noted, fail } = watch();

    await fail(9);
    expect(noted.signals).toEqual([]);
    await fail(1);

    expect(noted.signals).toEqual([
      {
        environmentId: 1,
        type: 'endpoint.verification_failing',
        subject: ENDPOINT.id,
        count: 10,
        details: {
          endpoint: expect.stringMatching(/^ep_/),
          path: 'acme/shop',
          failures: 10,
          last_event: expect.stringMatching(/^evt_/),
        },
      },
    ]);
  });

  it('starts again after a valid signature', async () => {
    const { noted, fail, succeed } = watch();

    await fail(9);
    succeed();
    await fail(9);

    expect(noted.signals).toEqual([]);
  });

  it('reports at most once an hour, with the number of failures in between', async () => {
    const { noted, clock, fail } = watch();

    await fail(500);
    expect(noted.signals.map(({ count }) => count)).toEqual([10]);
    clock.atMs += HOUR_MS;
    await fail(3);

    expect(noted.signals.map(({ count, details }) => [count, details['failures']])).toEqual([
      [10, 10],
      [491, 501],
    ]);
  });

  it('keeps endpoints apart', async () => {
    const { noted, fail } = watch();

    await fail(9);
    await fail(9, { ...ENDPOINT, environmentId: 2 });
    await fail(9, { ...ENDPOINT, id: EVENT });

    expect(noted.signals).toEqual([]);
  });

  it('reports failures that could not be stored with the next failure', async () => {
    const { noted, fail } = watch();
    noted.fails = true;
    await fail(10);

    noted.fails = false;
    await fail(1);

    expect(noted.signals.map(({ count }) => count)).toEqual([11]);
  });

  it('tracks at most 10,000 endpoints', async () => {
    const { noted, fail } = watch();
    await fail(9);
    for (let i = 0; i < 10_000; i += 1) await fail(1, { ...ENDPOINT, id: `other ${i}` });

    await fail(1);

    expect(noted.signals).toEqual([]);
  });
});
