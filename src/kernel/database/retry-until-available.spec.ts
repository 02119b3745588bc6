import { jest } from '@jest/globals';
import { isStorageAway, sqlState } from './database.js';
import { isUnreachable, retryUntilAvailable } from './retry-until-available.js';

const coded = (code: string): Error => Object.assign(new Error('no'), { code });

describe('isUnreachable', () => {
  it.each(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', '57P01', '57P03', '08006', '53300'])(
    'is true for %s',
    (code) => {
      expect(isUnreachable(coded(code))).toBe(true);
      expect(isStorageAway(coded(code))).toBe(true);
    },
  );

  it.each(['23505', '42P01', '28P01', '3D000'])(
    'is false for %s, which concerns the statement or the login',
    (code) => {
      expect(isUnreachable(coded(code))).toBe(false);
    },
  );

  it.each([
    'Query runner already released. Cannot run queries anymore.',
    'Database connection provided by a query runner was already released, cannot continue to use its querying methods anymore.',
  ])("is true for TypeORM's message about a connection that ended between two statements: %s", (message) => {
    expect(isUnreachable(new Error(message))).toBe(true);
  });

  it('does not take EPIPE for a server error, although its code also has five characters', () => {
    expect([sqlState(coded('EPIPE')), sqlState(coded('57P01')), sqlState(coded('08006'))]).toEqual([
      null,
      '57P01',
      '08006',
    ]);
  });

  it("is false for Posthorn's own errors", () => {
    expect(isUnreachable(new TypeError('x is not a function'))).toBe(false);
  });
});

describe('retryUntilAvailable', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Runs work that fails with the error that `errorAt` returns for the elapsed time, until `errorAt` returns null. */
  function arrange(errorAt: (startedMs: number) => Error | null) {
    const seen = { waits: 0, outcome: 'waiting' };
    const begunMs = performance.now();
    retryUntilAvailable(
      async () => {
        const error = errorAt(performance.now() - begunMs);
        if (error) throw error;
      },
      () => (seen.waits += 1),
    ).then(
      () => (seen.outcome = 'done'),
      (error: Error & { code?: string }) => (seen.outcome = error.code ?? error.message),
    );
    return seen;
  }

  it('waits for a server that is unavailable for a while, and calls onWait once', async () => {
    const seen = arrange((ms) => (ms < 20_000 ? coded('ECONNREFUSED') : null));

    await jest.advanceTimersByTimeAsync(21_000);

    expect(seen).toEqual({ waits: 1, outcome: 'done' });
  });

  it('gives up after half a minute without a response', async () => {
    const seen = arrange(() => coded('ECONNREFUSED'));

    await jest.advanceTimersByTimeAsync(31_000);

    expect(seen.outcome).toBe('ECONNREFUSED');
  });

  it('waits as long as the server reports that it is starting', async () => {
    const seen = arrange((ms) => (ms < 300_000 ? coded('57P03') : null));

    await jest.advanceTimersByTimeAsync(301_000);

    expect(seen.outcome).toBe('done');
  });

  it('throws immediately for errors that waiting cannot fix', async () => {
    const seen = arrange(() => coded('28P01'));

    await jest.advanceTimersByTimeAsync(0);

    expect(seen).toEqual({ waits: 0, outcome: '28P01' });
  });
});
