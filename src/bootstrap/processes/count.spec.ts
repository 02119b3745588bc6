import { connectionsFor, connectionsOf, crampedBy, processCount } from './count.js';

const GIB = 1024 ** 3;

describe('processCount', () => {
  it.each([
    [3, 2, 4, 3],
    ['auto', 8, 64, 8],
    ['auto', 8, 4, 4],
    ['auto', 8, 3.9, 3],
    ['auto', 1, 64, 1],
    ['auto', 4, 0.5, 1],
  ] as const)('PROCESSES=%s on %d cores with %d GiB results in %d processes', (asked, cores, gib, count) => {
    expect(processCount(asked, { cores, memoryBytes: gib * GIB })).toBe(count);
  });
});

describe('connectionsFor', () => {
  it('reserves connections for all processes and for the operator', () => {
    expect(connectionsFor(8, 10)).toBeGreaterThan(connectionsOf(8, 10));
    expect(connectionsOf(8, 10)).toBe(8 * connectionsOf(1, 10));
  });
});

describe('crampedBy', () => {
  it('names both numbers and the settings to change, and returns null if there are enough connections', () => {
    const wanted = connectionsOf(4, 10);

    expect(crampedBy(wanted, 4, 10)).toBeNull();
    expect(crampedBy(97, 4, 10)).toBe(
      `PostgreSQL allows 97 connections, and 4 processes open up to ${wanted}: raise its max_connections, or lower PROCESSES or DATABASE_POOL_SIZE.`,
    );
  });
});
