import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type {
  DeliveryAnswer,
  DestinationAdapter,
  MirroredRequest,
  Outgoing,
  Target,
} from '#modules/destinations/contract.js';
import { attemptMsMax, deliverSupervised } from './supervised-delivery.js';

const OK = { answer: { kind: 'response', status: 200, retryAfter: null }, durationMs: 42, excerpt: 'ok' };
const REQUEST = {
  method: 'POST',
  path: '',
  query: '',
  headers: [],
  body: Buffer.from('{}'),
} as unknown as MirroredRequest;

const outgoing = (request: Outgoing['request'] = () => Promise.resolve(REQUEST)): Outgoing => ({
  webhookId: 'msg_1',
  eventType: 'a',
  body: '{}',
  request,
  headers: null,
  requestLine: null,
  replayed: false,
  traceparent: null,
  atMs: 0,
  mayBegin: () => true,
});

const deliver = (deliver: (given: Outgoing) => unknown, given = outgoing()): Promise<DeliveryAnswer> =>
  deliverSupervised({ type: 'odd', deliver } as unknown as DestinationAdapter, given, {
    type: 'odd',
    timeoutMs: 10_000,
  } as Target);

const saying =
  (said: object): (() => object) =>
  () => ({ ...OK, ...said });

describe('deliverSupervised', () => {
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('returns the answer of a correct adapter', async () => {
    expect(await deliver(saying({}))).toEqual(OK);
    expect(await deliver(saying({ answer: { kind: 'error', error: 'refused' }, excerpt: null }))).toEqual({
      ...OK,
      answer: { kind: 'error', error: 'refused' },
      excerpt: null,
    });
    expect(await deliver(saying({ answer: { ...OK.answer, retryAfter: '7', outcome: 'throttled' } }))).toEqual({
      ...OK,
      answer: { ...OK.answer, retryAfter: '7', outcome: 'throttled' },
    });
    expect(jest.getTimerCount()).toBe(0);
  });

  it.each<[unknown, number]>([
    [600_000, 600_000],
    [Infinity, 3_600_000],
    [NaN, 10_000],
    [-1, 10_000],
    ['600000', 10_000],
    [null, 10_000],
    [undefined, 10_000],
  ])('converts a maximum duration of %s to %d ms', (said, ms) => {
    expect(attemptMsMax({ attemptMsMax: said } as unknown as DestinationAdapter, { timeoutMs: 10_000 })).toBe(ms);
  });

  it("waits as long as the type's own maximum, regardless of the target's timeout", async () => {
    const adapter = {
      type: 'odd',
      attemptMsMax: 600_000,
      deliver: () => new Promise((resolve) => setTimeout(() => resolve(OK), 300_000)),
    } as unknown as DestinationAdapter;
    const delivered = deliverSupervised(adapter, outgoing(), { type: 'odd', timeoutMs: 10_000 } as Target);
    await jest.advanceTimersByTimeAsync(300_000);

    expect(await delivered).toEqual(OK);
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('postgres://user:secret@host');
      },
    ],
    ['rejects with a value that is not an error', () => Promise.reject(undefined)],
    ['rejects', () => Promise.reject(new Error('postgres://user:secret@host'))],
    ['answers nothing', () => undefined],
    ['answers null', () => Promise.resolve(null)],
    ['answers a text', () => 'ok'],
    ['answers an empty object', () => ({})],
    ['answers without an answer', saying({ answer: null })],
    ['answers of an unknown kind', saying({ answer: { kind: 'fine' } })],
    ['answers an unknown error', saying({ answer: { kind: 'error', error: 'oops' } })],
    ['answers a status that is not a number', saying({ answer: { ...OK.answer, status: Number.NaN } })],
    ['answers status 7', saying({ answer: { ...OK.answer, status: 7 } })],
    ['answers status 200.5', saying({ answer: { ...OK.answer, status: 200.5 } })],
    ['answers a status in letters', saying({ answer: { ...OK.answer, status: '200' } })],
    ['answers a status of eleven digits', saying({ answer: { ...OK.answer, status: 20_000_000_000 } })],
    ['answers with a Retry-After that is a number', saying({ answer: { ...OK.answer, status: 503, retryAfter: 7 } })],
    ['answers with an unknown outcome', saying({ answer: { ...OK.answer, outcome: 'maybe' } })],
    [
      'answers with an object that throws when it is read',
      () => ({
        get answer() {
          throw new Error('a trap');
        },
      }),
    ],
  ])('an adapter that %s counts as a failed attempt', async (_what, misbehave) => {
    const { answer, durationMs, excerpt } = await deliver(misbehave);

    expect(answer).toEqual({ kind: 'error', error: 'adapter' });
    expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(excerpt).toMatch(/^The adapter of this type (failed|gave no valid answer)\./);
    expect(excerpt).not.toContain('secret');
  });

  it.each([
    ['not a number', Number.NaN],
    ['negative', -5],
    ['infinite', Number.POSITIVE_INFINITY],
    ['a year', 3e10],
    ['a string', '42'],
    ['missing', undefined],
  ])(
    'a duration that is %s is replaced by a measured one, and a success stays a success',
    async (_what, durationMs) => {
      const made = await deliver(saying({ durationMs }));

      expect(made.answer).toEqual(OK.answer);
      expect(made.durationMs).toBeGreaterThanOrEqual(0);
      expect(made.durationMs).toBeLessThanOrEqual(12_000);
    },
  );

  it.each<[string, unknown, string | null]>([
    ['NUL', 'a\0b', 'ab'],
    ['half surrogate pairs', 'a\ud83d', 'a\ufffd'],
    ['3 MB', 'x'.repeat(3_000_000), 'x'.repeat(1024)],
    ['a buffer', Buffer.from('ok'), null],
    ['nothing', undefined, null],
  ])('an excerpt of %s is converted to text that can be stored', async (_what, excerpt, expected) => {
    expect((await deliver(saying({ excerpt }))).excerpt).toBe(expected);
  });

  it("an attempt that never ends times out shortly after the target's timeout, and a late answer is ignored", async () => {
    let answer = (_said: unknown): void => undefined;
    const attempt = deliver(() => new Promise((resolve) => (answer = resolve)));
    let made: DeliveryAnswer | null = null;
    void attempt.then((each) => (made = each));

    await jest.advanceTimersByTimeAsync(11_999);
    expect(made).toBeNull();
    await jest.advanceTimersByTimeAsync(1);
    answer(OK);

    expect(await attempt).toMatchObject({
      answer: { kind: 'error', error: 'timeout' },
      excerpt: expect.stringContaining('12000 ms'),
    });
  });

  it('rejects if storage cannot load the request to send, because that is no fault of the target', async () => {
    const away = outgoing(() => Promise.reject(new Error('storage is away')));
    const silent = outgoing(() => new Promise(() => undefined));

    await expect(deliver(({ request }) => request(), away)).rejects.toThrow('storage is away');
    const waiting = expect(deliver(({ request }) => request(), silent)).rejects.toThrow('12000 ms');
    await jest.advanceTimersByTimeAsync(12_000);
    await waiting;
  });

  it('blames the adapter if it fails while a request that it does not await is being loaded', async () => {
    const made = await deliver(
      ({ request }) => {
        void request();
        throw new Error('a bug');
      },
      outgoing(() => new Promise(() => undefined)),
    );

    expect(made.answer).toEqual({ kind: 'error', error: 'adapter' });
  });
});
