import { OutageLog } from './outage-log.js';

describe('OutageLog', () => {
  let nowMs: number;
  let outage: OutageLog;

  beforeEach(() => {
    nowMs = 0;
    outage = new OutageLog(6432, () => nowMs);
  });

  it.each([
    'A turn failed, next one in 100 ms: connect ECONNREFUSED 10.0.0.7:6432',
    'Not listening for changes: the database system is shutting down',
    'The queue is not reachable, the sweep delivers meanwhile: terminating connection due to administrator command',
    'Accepting failed: Connection terminated unexpectedly',
    'POST /v1/send 503: timeout exceeded when trying to connect',
    'A turn failed, next one in 100 ms: ',
  ])('logs once that PostgreSQL is away: %s', (line) => {
    expect(outage.reworded(line)).toMatch(
      /^PostgreSQL is away \([^)]+\): nothing is accepted or delivered until it is back/,
    );
    expect(outage.reworded(line)).toBeNull();
    nowMs += 29_000;
    expect(outage.reworded('read ECONNRESET')).toBeNull();
  });

  it('logs the next outage again', () => {
    outage.reworded('read ECONNRESET');
    nowMs += 31_000;

    expect(outage.reworded('read ECONNRESET')).toMatch(/^PostgreSQL is away/);
  });

  it.each([
    'The queue did not accept a wake-up: connect ECONNREFUSED 127.0.0.1:6379',
    'A turn failed, next one in 100 ms: duplicate key value',
  ])('does not change unrelated lines: %s', (line) => {
    expect(outage.reworded(line)).toBe(line);
  });
});
