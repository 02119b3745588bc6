import { LookupQueue, shareOf } from './lookup-queue.js';

const QUEUE_LIMITS = { runningMax: 4, runningOfOneMax: 2, waitingMax: 6, waitingOfOneMax: 5 };

function arrange() {
  const queue = new LookupQueue(QUEUE_LIMITS);
  const started: string[] = [];
  const ending = new AbortController();
  const releases = new Map<string, () => void>();
  const take = (share: string, name: string, signal = ending.signal): Promise<string | null> =>
    queue.take(share, signal).then(
      (release) => {
        started.push(name);
        releases.set(name, release);
        return null;
      },
      (error: Error) => error.message,
    );
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { queue, started, take, release: (name: string) => releases.get(name)?.(), settle, ending };
}

describe('LookupQueue', () => {
  it('limits one share, and starts lookups of other shares immediately', async () => {
    const { queue, started, take, settle } = arrange();

    for (const name of ['a1', 'a2', 'a3', 'b1']) void take('a'.concat(name === 'b1' ? '!' : ''), name);
    await settle();

    expect(started).toEqual(['a1', 'a2', 'b1']);
    expect(queue.figures()).toEqual({ running: 3, waiting: 1 });
  });

  it('assigns slots round-robin by share when all are in use', async () => {
    const { started, take, release, settle } = arrange();
    for (const name of ['a1', 'a2']) void take('a', name);
    for (const name of ['b1', 'b2']) void take('b', name);
    for (const name of ['a3', 'a4']) void take('a', name);
    for (const name of ['c1', 'c2']) void take('c', name);
    await settle();
    expect(started).toEqual(['a1', 'a2', 'b1', 'b2']);

    for (const name of ['a1', 'a2', 'b1', 'b2']) {
      release(name);
      await settle();
    }

    expect(started.slice(4)).toEqual(['c1', 'a3', 'c2', 'a4']);
  });

  it('releases a slot once, however often the release function is called', async () => {
    const { queue, take, release, settle } = arrange();
    await take('a', 'a1');

    release('a1');
    release('a1');
    await settle();

    expect(queue.figures()).toEqual({ running: 0, waiting: 0 });
  });

  it('rejects lookups above the maximum of waiting ones, per share and in total', async () => {
    const { take, settle } = arrange();
    for (let n = 0; n < 7; n += 1) void take('a', `a${n}`);
    await settle();

    expect(await take('a', 'a8')).toContain('EBUSY');
    for (const name of ['b1', 'b2', 'b3']) void take('b', name);
    expect(await take('b', 'b4')).toContain('EBUSY');
    expect(await take('c', 'c1')).toContain('EBUSY');
  });

  it('removes a lookup that waited too long', async () => {
    const { queue, take, release, settle, ending } = arrange();
    const alone = new AbortController();
    for (const name of ['a1', 'a2']) void take('a', name);
    const waiting = take('a', 'a3', alone.signal);

    alone.abort(new Error('too late'));

    expect(await waiting).toBe('too late');
    expect(queue.figures()).toEqual({ running: 2, waiting: 0 });
    for (const name of ['a1', 'a2']) release(name);
    await settle();
    expect(queue.figures()).toEqual({ running: 0, waiting: 0 });
    ending.abort();
  });
});

describe('shareOf', () => {
  it.each([
    ['hooks.example.com', 'example.com'],
    ['a.b.c.example.com', 'example.com'],
    ['shop.example.co.uk', 'example.co.uk'],
    ['example.com', 'example.com'],
    ['receiver', 'receiver'],
    ['hooks.ibm.com', 'hooks.ibm.com'],
  ])('%s is of %s', (name, share) => {
    expect(shareOf(name)).toBe(share);
  });
});
