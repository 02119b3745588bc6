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
  replayed: false,
  traceparent: null,
  atMs: 0,
  mayBegin: () => true,
});

/** An attempt of an adapter that does as told. */
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

  it('gives what a good adapter answers', async () => {
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
  ])('takes %s of a type for %d ms', (said, ms) => {
    expect(attemptMsMax({ attemptMsMax: said } as unknown as DestinationAdapter, { timeoutMs: 10_000 })).toBe(ms);
  });

  it('waits for as long as the type says by itself, whatever the target says', async () => {
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
    ['rejects with what is no error', () => Promise.reject(undefined)],
    ['rejects', () => Promise.reject(new Error('postgres://user:secret@host'))],
    ['answers nothing', () => undefined],
    ['answers null', () => Promise.resolve(null)],
    ['answers a text', () => 'ok'],
    ['answers an empty object', () => ({})],
    ['answers without an answer', saying({ answer: null })],
    ['answers of an unknown kind', saying({ answer: { kind: 'fine' } })],
    ['answers an unknown error', saying({ answer: { kind: 'error', error: 'oops' } })],
    ['answers a status that is no number', saying({ answer: { ...OK.answer, status: Number.NaN } })],
    ['answers status 7', saying({ answer: { ...OK.answer, status: 7 } })],
    ['answers status 200.5', saying({ answer: { ...OK.answer, status: 200.5 } })],
    ['answers a status in letters', saying({ answer: { ...OK.answer, status: '200' } })],
    ['answers a status of eleven digits', saying({ answer: { ...OK.answer, status: 20_000_000_000 } })],
    ['answers with a Retry-After that is a number', saying({ answer: { ...OK.answer, status: 503, retryAfter: 7 } })],
    ['answers with an unknown outcome', saying({ answer: { ...OK.answer, outcome: 'maybe' } })],
    [
      'answers with what throws when it is read',
      () => ({
        get answer() {
          throw new Error('a trap');
        },
      }),
    ],
  ])('an adapter that %s has failed an attempt', async (_what, misbehave) => {
    const { answer, durationMs, excerpt } = await deliver(misbehave);

    expect(answer).toEqual({ kind: 'error', error: 'adapter' });
    expect(durationMs).toBeGreaterThanOrEqual(0);
    expect(excerpt).toMatch(/^The adapter of this type (failed|gave no valid answer)\./);
    expect(excerpt).not.toContain('secret');
  });

  it.each([
    ['not a number', Number.NaN],
    ['negative', -5],
    ['endless', Number.POSITIVE_INFINITY],
    ['of a year', 3e10],
    ['a text', '42'],
    ['missing', undefined],
  ])('a duration that is %s is measured here, and what was delivered stays delivered', async (_what, durationMs) => {
    const made = await deliver(saying({ durationMs }));

    expect(made.answer).toEqual(OK.answer);
    expect(made.durationMs).toBeGreaterThanOrEqual(0);
    expect(made.durationMs).toBeLessThanOrEqual(12_000);
  });

  it.each<[string, unknown, string | null]>([
    ['NUL', 'a\0b', 'ab'],
    ['half surrogate pairs', 'a\ud83d', 'a\ufffd'],
    ['3 MB', 'x'.repeat(3_000_000), 'x'.repeat(1024)],
    ['no text', Buffer.from('ok'), null],
    ['nothing', undefined, null],
  ])('an excerpt of %s becomes what can be stored', async (_what, excerpt, expected) => {
    expect((await deliver(saying({ excerpt }))).excerpt).toBe(expected);
  });

  it("an attempt that never ends is timed out a little after the target's own time-out, and a late answer is dropped", async () => {
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

  it('is no fault of the target when storage does not give the request that was to be sent', async () => {
    const away = outgoing(() => Promise.reject(new Error('storage is away')));
    const silent = outgoing(() => new Promise(() => undefined));

    await expect(deliver(({ request }) => request(), away)).rejects.toThrow('storage is away');
    const waiting = expect(deliver(({ request }) => request(), silent)).rejects.toThrow('12000 ms');
    await jest.advanceTimersByTimeAsync(12_000);
    await waiting;
  });

  it("is the adapter's fault when it fails beside a request that it does not wait for", async () => {
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
