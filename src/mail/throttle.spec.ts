import { setImmediate as turn } from 'node:timers/promises';
import { DomainThrottle } from './throttle.js';

const FOREVER = new AbortController().signal;

describe('DomainThrottle', () => {
  let nowMs = 0;
  let throttle: DomainThrottle;
  let entered: (() => void)[];

  const enter = async (count: number, domains = ['example.org']): Promise<void> => {
    for (let i = 0; i < count; i += 1)
      void throttle.enter(domains, FOREVER).then((leave) => entered.push(leave ?? (() => undefined)));
    await turn();
  };

  beforeEach(() => {
    nowMs = 0;
    entered = [];
    throttle = new DomainThrottle(() => nowMs);
  });

  it('allows five concurrent messages to a domain, and the next one when a slot is released', async () => {
    await enter(7);
    expect(entered).toHaveLength(5);

    entered[0]?.();
    await turn();
    expect(entered).toHaveLength(6);
  });

  it('does not delay other domains: each has its own slots', async () => {
    await enter(6);
    await enter(1, ['example.net']);

    expect(entered).toHaveLength(6);
  });

  it('halves the slots for five minutes after the server asked to slow down, to at least one', async () => {
    for (let i = 0; i < 5; i += 1) throttle.slowDown('example.org');
    await enter(3);
    expect(entered).toHaveLength(1);

    nowMs = 300_001;
    entered[0]?.();
    await turn();
    expect(entered).toHaveLength(3);
  });

  it('if all slots are in use and one is stalled, rejects new and waiting submissions; other domains continue', async () => {
    throttle = new DomainThrottle(() => nowMs, { stalledMs: 5 });
    await enter(5);
    const waiting = throttle.enter(['example.org'], FOREVER);

    expect(await waiting).toBeNull();
    expect(await throttle.enter(['example.org', 'a.example'], FOREVER)).toBeNull();
    await enter(5, ['a.example']);
    expect(entered).toHaveLength(10);

    entered[0]?.();
    expect(await throttle.enter(['example.org'], FOREVER)).not.toBeNull();
  });

  it('stops waiting when its signal aborts, and releases its slots', async () => {
    await enter(5, ['b.example']);
    const hurry = new AbortController();
    const late = throttle.enter(['b.example', 'a.example'], hurry.signal);
    await turn();

    hurry.abort();

    expect(await late).toBeNull();
    await enter(5, ['a.example']);
    expect(entered).toHaveLength(10);
  });
});
