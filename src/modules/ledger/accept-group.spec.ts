import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DueWorkPoller } from '#kernel/concurrency/due-work-poller.js';
import type { Database, PiggybackStatement } from '#kernel/database/database.js';
import { AcceptGroup } from './accept-group.js';
import type { LedgerMetrics } from './ledger.metrics.js';
import type { DeliveryResult } from './record.contract.js';
import { RecordResults } from './record.js';
import { RecordStore } from './record.store.js';

beforeEach(() => {
  jest.useFakeTimers();
  Logger.overrideLogger(false);
});

afterEach(() => {
  jest.useRealTimers();
  Logger.overrideLogger(true);
});

const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);
const refusal = (code: string | null): Error =>
  Object.assign(new Error(`refused ${code}`), code === null ? {} : { code });

const delivered = (eventId: string): DeliveryResult => ({
  environmentId: 1,
  eventId,
  ordinal: 0,
  claimedBy: '019aa4c0-0000-7000-8000-00000000000a',
  status: 'delivered',
  reason: null,
  dueInMs: null,
  parked: false,
  attemptsUsed: 1,
  pulled: false,
  counted: true,
  attempt: { number: 1, startedAtMs: 0, durationMs: 1, httpStatus: 200, error: null, excerpt: null },
});
const EVENT = '019aa4c0-0000-7000-8000-00000000000e';

/** Builds a group. `commit` returns the error of a commit, or null. `lost` lists the events whose claim is lost. */
function arrange(commit: (what: string) => Error | null = () => null, lost: readonly string[] = []) {
  const commits: string[] = [];
  const write = (what: string): void => {
    commits.push(what);
    const error = commit(what);
    if (error) throw error;
  };
  const held = (values: readonly unknown[]): { event_id: string; ordinal: number }[] => {
    const count = (values[0] as Buffer).readInt32BE(12);
    return Array.from({ length: count }, () => ({ event_id: EVENT, ordinal: 0 })).filter(
      ({ event_id }) => !lost.includes(event_id),
    );
  };
  const database = {
    queryPrepared: async (_statement: unknown, values: unknown[]) => (write('results'), held(values)),
  } as unknown as Database;
  const results = new RecordResults(
    new RecordStore(database),
    { recordedGroup: () => undefined, sharedGroup: () => undefined } as unknown as LedgerMetrics,
    { schedule: () => undefined } as unknown as DueWorkPoller,
  );
  const accepts = new AcceptGroup<string>({ ensure: async () => undefined }, results, {
    what: 'Accepting',
    weighBytes: () => 1,
    backlogMax: 1_000,
    backlogBytesMax: Infinity,
    store: async (items, how) => {
      const ride = how as PiggybackStatement | null;
      write(`${items.join(' ')}${ride ? ' with results' : ''}`);
      ride?.onCommitted(held(ride.values));
      return () => items.map(() => undefined);
    },
  });
  return { accepts, results, commits };
}

describe('accepts and results of one process', () => {
  it('a result is written by the commit of the next accept, or by its own if there is none', async () => {
    const { accepts, results, commits } = arrange();

    const first = results.record(delivered(EVENT));
    await pass(5);
    await Promise.all([accepts.add('a'), pass(1)]);
    expect(await first).toBe(true);
    const second = results.record(delivered(EVENT));
    await pass(19);
    expect(commits).toEqual(['a with results']);
    await pass(1);

    expect([await second, commits]).toEqual([true, ['a with results', 'results']]);
  });

  it('a result whose claim was lost is reported as lost, also after a shared commit', async () => {
    const { accepts, results, commits } = arrange(() => null, [EVENT]);

    const result = results.record(delivered(EVENT));
    await Promise.all([accepts.add('a'), pass(1)]);

    expect([await result, commits]).toEqual([false, ['a with results']]);
  });

  it('after a shared commit failed, both parts are written separately, and nothing is shared for a second', async () => {
    const { accepts, results, commits } = arrange((what) =>
      what.includes('with') && commits.length === 1 ? refusal('55P03') : null,
    );

    const result = results.record(delivered(EVENT));
    const accepted = accepts.add('a');
    await pass(1);
    await accepted;
    expect([await result, commits]).toEqual([true, ['a with results', 'results', 'a']]);
    const behind = results.record(delivered(EVENT));
    await Promise.all([accepts.add('b'), pass(20)]);
    await behind;
    expect(commits.slice(3)).toEqual(['b', 'results']);
    await pass(1_000);
    void results.record(delivered(EVENT));
    await Promise.all([accepts.add('c'), pass(20)]);

    expect(commits.slice(5)).toEqual(['c with results']);
  });

  it('a rejected accept does not make others fail', async () => {
    const { accepts, results } = arrange((what) => (what.startsWith('a') ? refusal('22P05') : null));

    const result = results.record(delivered(EVENT));
    const outcome = expect(accepts.add('a')).rejects.toThrow('refused 22P05');
    await pass(20);

    await outcome;
    expect(await result).toBe(true);
  });

  it('a rejected result does not make others fail', async () => {
    const { accepts, results } = arrange((what) => (what.includes('results') ? refusal('22P05') : null));

    const outcome = expect(results.record(delivered(EVENT))).rejects.toThrow('refused 22P05');
    await Promise.all([accepts.add('a'), pass(20)]);

    await outcome;
  });

  it('while storage is unavailable, accepts fail immediately and results wait', async () => {
    let isAway = true;
    const { accepts, results } = arrange(() => (isAway ? refusal(null) : null));

    const result = results.record(delivered(EVENT));
    const outcome = expect(accepts.add('a')).rejects.toMatchObject({ type: 'unavailable' });
    await pass(1);
    await outcome;
    isAway = false;
    await pass(2_000);

    expect(await result).toBe(true);
  });

  it('more results than can be shared get a commit of their own', async () => {
    const { accepts, results, commits } = arrange();

    const recorded = Array.from({ length: 33 }, () => results.record(delivered(EVENT)));
    await Promise.all([accepts.add('a'), pass(20)]);
    await Promise.all(recorded);

    expect(commits).toEqual(['a', 'results']);
  });
});
