import { AdaptiveLinger } from './adaptive-linger.js';

const LIMITS = { waitMsMax: 6, lingerAndWriteMs: 8, batchSize: 8 };

function visited(gapMs: number, count = 20): AdaptiveLinger {
  const linger = new AdaptiveLinger(LIMITS);
  for (let n = count - 1; n >= 0; n -= 1) linger.recordArrival(1_000 - n * gapMs);
  return linger;
}

describe('AdaptiveLinger', () => {
  it.each([
    { what: 'a thousand a second', gapMs: 1, writeMs: 0, afterMs: 0, patienceMs: 6 },
    { what: '400 a second', gapMs: 2.5, writeMs: 0, afterMs: 0, patienceMs: 6 },
    { what: '400 a second on a slow disk', gapMs: 2.5, writeMs: 4, afterMs: 0, patienceMs: 4 },
    {
      what: '400 a second on a disk so slow that others come while it writes',
      gapMs: 2.5,
      writeMs: 7,
      afterMs: 0,
      patienceMs: 0,
    },
    { what: 'one every 6 ms, so that one more is to be expected', gapMs: 6, writeMs: 0, afterMs: 0, patienceMs: 6 },
    { what: 'one every 7 ms', gapMs: 7, writeMs: 0, afterMs: 0, patienceMs: 0 },
    { what: 'ten a second', gapMs: 100, writeMs: 0, afterMs: 0, patienceMs: 0 },
    { what: '400 a second, and then nobody for a while', gapMs: 2.5, writeMs: 0, afterMs: 500, patienceMs: 0 },
  ])('$what: waits for $patienceMs ms', ({ gapMs, writeMs, afterMs, patienceMs }) => {
    const company = visited(gapMs);
    for (let n = 0; n < 200; n += 1) company.recordWrite(writeMs);

    expect(company.lingerMs(1_000 + afterMs)).toBeCloseTo(patienceMs, 3);
  });

  it.each([
    { gapMs: 2.5, restMs: 6, isComplete: false },
    { gapMs: 2.5, restMs: 2.6, isComplete: false },
    { gapMs: 2.5, restMs: 2.4, isComplete: true },
    { gapMs: 1, restMs: 2.4, isComplete: false },
  ])(
    'one arrives every $gapMs ms and $restMs ms of the linger are left: complete is $isComplete',
    ({ gapMs, restMs, isComplete }) => {
      expect(visited(gapMs).isComplete(restMs)).toBe(isComplete);
    },
  );

  it('treats a single close pair of arrivals as coincidence', () => {
    const company = visited(2.5);

    company.recordDeparture(1);
    expect(company.lingerMs(1_000)).toBe(6);
    company.recordDeparture(3);
    company.recordDeparture(1);
    expect(company.lingerMs(1_000)).toBe(6);

    company.recordDeparture(1);
    expect(company.lingerMs(1_000)).toBe(0);
  });

  it('does not linger before it has seen enough arrivals', () => {
    expect(visited(1, 7).lingerMs(1_000)).toBe(0);
    expect(visited(1, 8).lingerMs(1_000)).toBe(6);
  });

  it.each([{ clients: 1 }, { clients: 4 }])(
    'lingers less and less often if $clients clients send again only after each response',
    ({ clients }) => {
      const linger = new AdaptiveLinger(LIMITS);
      let waits = 0;
      for (let n = 0; n < 1_000; n += 1) {
        for (let client = 0; client < clients; client += 1) linger.recordArrival(n * 3 + client / 4);
        if (linger.lingerMs(n * 3) === 0) continue;
        waits += 1;
        linger.recordDeparture((clients - 1) / 4);
      }

      expect(waits).toBeLessThan(25);
    },
  );

  it('lingers again immediately after a linger that gained an item', () => {
    const company = visited(2.5);
    for (let n = 0; n < 3; n += 1) {
      while (company.lingerMs(1_000) === 0);
      company.recordDeparture(0);
    }
    expect(company.lingerMs(1_000)).toBe(0);

    while (company.lingerMs(1_000) === 0);
    company.recordDeparture(2.5);

    expect(company.lingerMs(1_000)).toBe(6);
  });
});
