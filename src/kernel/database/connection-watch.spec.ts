import { jest } from '@jest/globals';
import { ConnectionWatch, type Verdicts, type Watched } from './connection-watch.js';

const URL = 'postgres://db/x';

function connection(backendPid: number, deadlineMs = 60_000) {
  const state = { statement: null as object | null, progress: 0, pings: 0, givenUp: null as string | null };
  const watched: Watched = {
    url: URL,
    isPooled: false,
    backendPid,
    deadlineMs,
    statement: () => state.statement,
    progress: () => state.progress,
    ping: () => {
      if (state.statement === null) state.pings += 1;
    },
    giveUp: (reason) => (state.givenUp ??= reason),
  };
  return { watched, state };
}

function arrange(verdicts: (pids: readonly number[]) => Verdicts | Promise<Verdicts>) {
  const asked: number[][] = [];
  const watch = new ConnectionWatch(async (_url, _isPooled, pids) => {
    asked.push([...pids]);
    return verdicts(pids);
  });
  const open = (backendPid: number, deadlineMs?: number) => {
    const opened = connection(backendPid, deadlineMs);
    watch.add(opened.watched);
    return opened;
  };
  return { watch, asked, open };
}

const all =
  (verdict: 'works' | 'rests' | 'unknown') =>
  (pids: readonly number[]): Verdicts =>
    new Map(pids.map((pid) => [pid, verdict]));
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('ConnectionWatch', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('does not query the server while statements are answered within a second', async () => {
    const { asked, open } = arrange(all('rests'));
    const { state } = open(1);

    for (let i = 0; i < 20; i += 1) {
      state.statement = {};
      await pass(750);
    }

    expect([asked, state.givenUp]).toEqual([[], null]);
  });

  it('destroys a connection within two seconds if the server is not executing its statement', async () => {
    const { asked, open } = arrange(all('rests'));
    const { state } = open(7);

    state.statement = {};
    await pass(2_250);

    expect(asked[0]).toEqual([7]);
    expect(state.givenUp).toContain('dead');
  });

  it('keeps a connection that transfers a large statement or response, until its deadline', async () => {
    const { open } = arrange(all('rests'));
    const { state } = open(7, 10_000);

    state.statement = {};
    for (let i = 0; i < 9; i += 1) {
      state.progress += 1;
      await pass(1_000);
    }
    expect(state.givenUp).toBeNull();
    state.progress += 1;
    await pass(1_250);
    expect(state.givenUp).toContain('did not end a statement');
  });

  it('destroys a connection whose transfer stopped', async () => {
    const { open } = arrange(all('rests'));
    const { state } = open(7);

    state.statement = {};
    await pass(1_000);
    state.progress += 1;
    await pass(3_000);

    expect(state.givenUp).toContain('dead');
  });

  it('keeps a connection whose response arrives shortly after the server was queried', async () => {
    const { open } = arrange(all('rests'));
    const { state } = open(7);

    state.statement = {};
    await pass(1_500);
    state.statement = null;
    await pass(5_000);

    expect(state.givenUp).toBeNull();
  });

  it('waits while the server executes the statement, checks every second, and stops at the deadline', async () => {
    const { asked, open } = arrange(all('works'));
    const { state } = open(7, 30_000);

    state.statement = {};
    await pass(29_750);
    const before = state.givenUp;
    await pass(1_000);

    expect(before).toBeNull();
    expect(asked.length).toBeGreaterThan(20);
    expect(state.givenUp).toContain('did not end');
  });

  it.each<[string, () => Verdicts | Promise<Verdicts>]>([
    ['no second connection can be opened', () => null],
    ['the second connection hangs as well', () => new Promise(() => undefined)],
    ['the server does not report its state', () => all('unknown')([7])],
  ])('destroys the connection within five seconds if %s', async (_why, verdicts) => {
    const { open } = arrange(verdicts);
    const { state } = open(7);

    state.statement = {};
    await pass(4_250);
    const before = state.givenUp;
    await pass(750);

    expect(before).toBeNull();
    expect(state.givenUp).toContain('does not answer');
  });

  it('pings the idle connections of a server as soon as one of its connections is in doubt', async () => {
    const { open } = arrange(all('works'));
    const silent = open(1);
    const resting = open(2);

    silent.state.statement = {};
    await pass(1_500);

    expect(resting.state.pings).toBe(1);
  });

  it('pings an idle connection every minute, but not a closed one', async () => {
    const { watch, open } = arrange(all('works'));
    const kept = open(1);
    const gone = open(2);
    watch.remove(gone.watched);

    await pass(181_000);

    expect([kept.state.pings, gone.state.pings]).toEqual([3, 0]);
  });
});
