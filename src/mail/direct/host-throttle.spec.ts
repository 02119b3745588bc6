import { setImmediate as turn } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { type HostConversation, HostThrottle } from './host-throttle.js';

const FOREVER = new AbortController().signal;
const REPLY_MS = 8_000;

describe('HostThrottle', () => {
  let nowMs: number;
  let throttle: HostThrottle;
  let entered: (HostConversation | null)[];

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    nowMs = 0;
    entered = [];
    throttle = new HostThrottle(() => nowMs);
  });

  afterEach(() => jest.useRealTimers());

  const enter = async (count: number, host = 'mx.example.org'): Promise<void> => {
    for (let i = 0; i < count; i += 1) void throttle.enter(host, FOREVER).then((each) => entered.push(each));
    await turn();
  };
  const pass = async (ms: number): Promise<void> => {
    jest.advanceTimersByTime(ms);
    await turn();
  };
  const open = (conversation: HostConversation | null | undefined): void => {
    conversation?.noteReply();
    conversation?.noteReply();
  };
  const beSilent = async (): Promise<void> => {
    await enter(1);
    await pass(REPLY_MS);
  };

  it('opens five connections at once to an unknown host, and twenty after a reply', async () => {
    await enter(40);
    expect(entered).toHaveLength(5);

    open(entered[0]);
    await turn();
    expect(entered).toHaveLength(21);
  });

  it('does not limit conversations that have replied in time', async () => {
    for (let i = 0; i < 100; i += 1) {
      await enter(1);
      open(entered[i]);
    }

    expect(entered.filter((each) => each !== null)).toHaveLength(100);
  });

  it('rejects the waiting and all further conversations with a silent host, except one at a time', async () => {
    const isEntered = (from: number): boolean[] => entered.slice(from).map((each) => each !== null);
    await enter(8);
    await pass(REPLY_MS);
    expect(isEntered(5)).toEqual([true, false, false]);

    await enter(2);
    expect(isEntered(8)).toEqual([false, false]);
    entered[5]?.end();
    await enter(2);
    expect(isEntered(10)).toEqual([true, false]);
    await enter(1, 'mx.example.net');
    expect(isEntered(12)).toEqual([true]);
  });

  it('opens at most twenty connections at once to a silent host', async () => {
    for (let i = 0; i < 20; i += 1) await beSilent();
    await enter(1);

    expect(entered.map((each) => each !== null)).toEqual([...Array<boolean>(20).fill(true), false]);
  });

  it.each<[string, (late: HostConversation | null | undefined) => void]>([
    ['replies late', open],
    ['replies to a new connection', () => open(entered[1])],
    ['rejects a new connection in its greeting', () => (entered[1]?.noteReply(), entered[1]?.end())],
    ['was silent five minutes ago', (late) => (late?.end(), entered[1]?.end(), (nowMs = 300_001))],
  ])('opens several connections again if the host %s', async (_what, act) => {
    await beSilent();
    await enter(2);
    expect(entered[2]).toBeNull();

    act(entered[0]);
    await enter(3);
    expect(entered.slice(3)).not.toContain(null);
  });

  it('a failed connection frees its slot, and does not make the host silent', async () => {
    await enter(6);
    entered[0]?.end();
    entered[0]?.end();
    await turn();
    expect(entered).toHaveLength(6);

    for (const each of entered) each?.end();
    await pass(REPLY_MS);
    await enter(5);
    expect(entered).not.toContain(null);
  });

  it('rejects conversations while twenty others have each taken more than 30 seconds', async () => {
    for (let i = 0; i < 20; i += 1) {
      await enter(1);
      open(entered[i]);
    }
    await pass(30_000);
    await enter(1);
    expect(entered[20]).toBeNull();

    entered[0]?.end();
    await enter(1);
    expect(entered[21]).not.toBeNull();
  });

  it('stops waiting when its signal aborts', async () => {
    await enter(5);
    const hurry = new AbortController();
    const waiting = throttle.enter('mx.example.org', hurry.signal);
    hurry.abort();

    expect(await waiting).toBeNull();
  });
});
