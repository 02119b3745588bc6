import { Logger } from '@nestjs/common';
import type { Answer } from '#engine/outcome.js';
import type { Vault } from '#kernel/crypto/vault.js';
import type { Tracing } from '#kernel/observability/tracing.js';
import {
  type DeliveryAnswer,
  type DestinationAdapter,
  type Outgoing,
  Postponed,
  type Target,
} from '#modules/destinations/contract.js';
import { Targets } from '#modules/destinations/targets.js';
import type { RequestsStore } from '#modules/events/requests.store.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import { Attempt } from './attempt.js';
import type { HeldCancellations } from './held-cancellations.js';
import type { WorkerHeartbeat } from './worker-heartbeat.js';

const NOW_MS = 1_763_690_000_000;
const TARGET_ID = '0190f0a0-0000-0000-0000-000000000001';
const DELIVERY: ClaimedDelivery = {
  environmentId: 7,
  // Example of the ULID specification (github.com/ulid/spec), as 16 bytes.
  eventId: '01563e3a-b5d3-d676-4c61-efb99302bd5b',
  ordinal: 2,
  claimedBy: '0190f0a0-0000-0000-0000-00000000000c',
  targetId: TARGET_ID,
  direction: 'outbound',
  messageId: null,
  url: null,
  eventType: 'invoice.paid',
  requestLine: null,
  headers: { 'x-tenant': '42' },
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  payload: '{"amount":4200}',
  attempts: 3,
  attemptsUsed: 2,
  firstAttemptAtMs: NOW_MS - 60_000,
  replayed: true,
};
const KEY = { environmentId: 7, eventId: DELIVERY.eventId, ordinal: 2, claimedBy: DELIVERY.claimedBy };
const OK: DeliveryAnswer = {
  answer: { kind: 'response', status: 200, retryAfter: null },
  durationMs: 42,
  excerpt: 'ok',
};

const answered = (status: number, retryAfter: string | null = null): Answer => ({
  kind: 'response',
  status,
  retryAfter,
});

function arrange(answer: Answer = OK.answer, change: Partial<Target> = {}) {
  const target = {
    environmentId: 7,
    targetId: TARGET_ID,
    destinationId: TARGET_ID,
    type: 'https',
    status: 'active',
    timeoutMs: 15_000,
    retry: { maxAttempts: 8, scheduleSeconds: [0, 5, 300, 1800] },
    ...change,
  } as Target;
  const world = {
    target: target as Target | null,
    pulled: false,
    sent: [] as Outgoing[],
    asked: [] as string[],
    spans: [] as string[],
    cancelReason: null as 'cancelled' | 'erased' | null,
    misbehaves: null as (() => DeliveryAnswer) | null,
    isLeased: true,
  };
  const targets = Object.assign(Object.create(Targets.prototype) as Targets, {
    known: () => undefined,
    ofDestination: async (environmentId: number, id: string) => {
      world.asked.push(`${environmentId} ${id}`);
      return world.target;
    },
    ofUrl: async (environmentId: number, url: string) => {
      world.asked.push(`${environmentId} ${url}`);
      return target;
    },
    adapter: (type: string) =>
      ({
        pulled: world.pulled,
        deliver: async (outgoing: Outgoing, to: Target) => {
          expect([type, to]).toEqual([target.type, target]);
          world.sent.push(outgoing);
          if (world.misbehaves) return world.misbehaves();
          return { ...OK, answer };
        },
      }) as unknown as DestinationAdapter,
  });
  const clock = { nowMs: () => NOW_MS, now: () => new Date(NOW_MS), random: () => 0.5, monotonicMs: () => NOW_MS };
  const tracing = {
    startDelivery: (traceparent: string | null, describe: () => Record<string, unknown>) => ({
      traceparent: traceparent && `${traceparent} below`,
      end: (outcome: string) => world.spans.push(`${String(describe()['posthorn.destination_type'])} ${outcome}`),
    }),
  } as unknown as Tracing;
  const cancellations = {
    reasonOf: async ({ cancelReason }: ClaimedDelivery) => cancelReason ?? world.cancelReason,
  } as unknown as HeldCancellations;
  const presence = {
    mayStart: (claimant: string) => claimant === DELIVERY.claimedBy && world.isLeased,
  } as unknown as WorkerHeartbeat;
  return {
    attempt: new Attempt(
      targets,
      clock,
      tracing,
      { find: () => Promise.resolve(null) } as unknown as RequestsStore,
      cancellations,
      {} as Vault,
      presence,
    ),
    target,
    world,
  };
}

describe('Attempt', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('may begin as long as its claim is certain', async () => {
    const { attempt, world } = arrange();
    await attempt.perform(DELIVERY, false);

    expect(world.sent[0]?.mayBegin()).toBe(true);
    world.isLeased = false;
    expect(world.sent[0]?.mayBegin()).toBe(false);
  });

  it('sends the payload unchanged, with the id and the time that the signature covers', async () => {
    const { attempt, world } = arrange();

    await attempt.perform(DELIVERY, false);

    expect(world.asked).toEqual([`7 ${TARGET_ID}`]);
    expect(world.sent).toEqual([
      {
        webhookId: 'msg_01ARZ3NDEKTSV4RRFFQ69G5FAV',
        eventType: 'invoice.paid',
        body: '{"amount":4200}',
        headers: { 'x-tenant': '42' },
        requestLine: null,
        replayed: true,
        traceparent: `${DELIVERY.traceparent} below`,
        atMs: NOW_MS,
        request: expect.any(Function),
        mayBegin: expect.any(Function),
      },
    ]);
    expect(world.spans).toEqual(['https success']);
  });

  it('records the attempt with its number, duration and response', async () => {
    const { attempt, target } = arrange();

    expect(await attempt.perform(DELIVERY, false)).toEqual({
      outcome: 'success',
      target,
      result: {
        ...KEY,
        status: 'delivered',
        reason: null,
        dueInMs: null,
        parked: false,
        attemptsUsed: 3,
        pulled: false,
        counted: true,
        attempt: { number: 4, startedAtMs: NOW_MS, durationMs: 42, httpStatus: 200, error: null, excerpt: 'ok' },
      },
    });
  });

  it('stores request and response of a failed attempt without credentials, and nothing for a successful one', async () => {
    const { attempt, world } = arrange(answered(503), { secretHeaders: new Set(['x-plain']) });
    const headers = {
      'x-tenant': '42',
      authorization: 'Bearer of-theirs',
      'x-plain': 'of-a-secret',
      'webhook-id': 'msg_1',
    };
    const exchange = {
      method: 'POST',
      url: new URL('https://user:password@example.com/hook?a=1#there'),
      headers,
      answered: { server: 'nginx' },
    };
    world.misbehaves = () => ({ ...OK, answer: answered(503), exchange });

    const failed = (await attempt.perform(DELIVERY, false)).result.attempt?.exchange;
    world.misbehaves = () => ({ ...OK, exchange });
    const delivered = (await attempt.perform(DELIVERY, false)).result.attempt;

    expect(JSON.parse(failed ?? '')).toEqual({
      method: 'POST',
      url: 'https://example.com/hook?a=1',
      headers: { 'x-tenant': null, authorization: '(hidden)', 'x-plain': '(hidden)', 'webhook-id': 'msg_1' },
      answered: { server: 'nginx' },
    });
    expect(delivered).not.toHaveProperty('exchange');
  });

  it.each<[string, unknown]>([
    ['a word', 'sent'],
    ['no URL', { method: 'POST', url: 'https://example.com', headers: {}, answered: null }],
    ['no headers', { method: 'POST', url: new URL('https://example.com'), answered: null }],
  ])('stores no exchange if it is invalid: %s', async (_what, exchange) => {
    const { attempt, world } = arrange();
    world.misbehaves = () => ({ ...OK, answer: answered(503), exchange }) as DeliveryAnswer;

    expect((await attempt.perform(DELIVERY, false)).result.attempt).not.toHaveProperty('exchange');
  });

  it('uses the URL of the delivery if it has one', async () => {
    const { attempt, world } = arrange();

    await attempt.perform({ ...DELIVERY, url: 'https://example.com/hook' }, false);

    expect(world.asked).toEqual(['7 https://example.com/hook']);
  });

  // The retry schedule began a minute ago. Its first three steps take 305 s in total. Attempt 4 follows after half (the
  // random value) of the fourth step of 1800 s.
  const scheduledMs = NOW_MS - 60_000 + 305_000 + 900_000;

  it.each<[string, Answer, Record<string, unknown>]>([
    [
      'a failure is retried according to the schedule',
      answered(500),
      { status: 'retrying', dueInMs: scheduledMs - NOW_MS },
    ],
    ['a redirect is a failure', answered(302), { status: 'retrying', dueInMs: scheduledMs - NOW_MS }],
    ['a Retry-After of the receiver is obeyed', answered(503, '7200'), { status: 'retrying', dueInMs: 7_200_000 }],
    ['a 410 ends the delivery', answered(410), { status: 'failed', reason: 'gone', dueInMs: null }],
    [
      'a missing response is a failure',
      { kind: 'error', error: 'timeout' },
      { status: 'retrying', dueInMs: scheduledMs - NOW_MS },
    ],
  ])('%s', async (_what, answer, expected) => {
    const { result } = await arrange(answer).attempt.perform(DELIVERY, false);

    expect(result).toMatchObject({ reason: null, parked: false, attemptsUsed: 3, ...expected });
    expect(result.attempt).toMatchObject(
      answer.kind === 'error' ? { httpStatus: null, error: 'timeout' } : { httpStatus: answer.status, error: null },
    );
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
    ],
    ['answers nonsense', () => ({ answer: { kind: 'response', status: Number.NaN }, excerpt: 'a\0b' })],
  ])(
    'an adapter that %s uses up an attempt, which is recorded and counts for the circuit',
    async (_what, misbehaves) => {
      const { attempt, world } = arrange();
      world.misbehaves = misbehaves as () => DeliveryAnswer;

      const { result, outcome } = await attempt.perform(DELIVERY, false);

      expect(outcome).toBe('failed');
      expect(result).toMatchObject({ status: 'retrying', dueInMs: scheduledMs - NOW_MS, attemptsUsed: 3 });
      expect(result.attempt).toEqual({
        number: 4,
        startedAtMs: NOW_MS,
        durationMs: expect.any(Number),
        httpStatus: null,
        error: 'adapter',
        excerpt: expect.stringMatching(/^The adapter of this type/),
      });
      expect(world.spans).toEqual(['https failed']);
    },
  );

  it('ends the delivery without an attempt if the adapter reports that the message was canceled', async () => {
    const { attempt, world } = arrange();
    world.misbehaves = () => ({
      answer: { kind: 'error', error: 'refused' },
      durationMs: 1,
      excerpt: null,
      isCanceled: true,
    });

    const { result, outcome } = await attempt.perform(DELIVERY, false);

    expect(outcome).toBeNull();
    expect(result).toMatchObject({ status: 'failed', reason: 'cancelled', attemptsUsed: 2, attempt: null });
  });

  it('stores a success even if the adapter also reports that the message was canceled', async () => {
    const { attempt, world } = arrange();
    world.misbehaves = () => ({
      answer: { kind: 'response', status: 200, retryAfter: null },
      durationMs: 1,
      excerpt: null,
      isCanceled: true,
    });

    const { result, outcome } = await attempt.perform(DELIVERY, false);

    expect(outcome).toBe('success');
    expect(result).toMatchObject({ status: 'delivered', reason: null, attempt: { httpStatus: 200 } });
  });

  it('makes the delivery a dead letter when its attempts are used up', async () => {
    const { attempt } = arrange(answered(500), { retry: { maxAttempts: 3, scheduleSeconds: [0] } });

    expect((await attempt.perform(DELIVERY, false)).result).toMatchObject({
      status: 'dlq',
      dueInMs: null,
      attemptsUsed: 3,
    });
  });

  it('starts the schedule with this attempt if it is the first', async () => {
    const { attempt } = arrange(answered(500));
    const first = { ...DELIVERY, attempts: 0, attemptsUsed: 0, firstAttemptAtMs: null };

    const { result } = await attempt.perform(first, false);

    // The second step of the retry schedule is 5 s, and the random factor is 0.5.
    expect(result).toMatchObject({ status: 'retrying', dueInMs: 2_500, attemptsUsed: 1, attempt: { number: 1 } });
  });

  it.each([
    ['failed', answered(500)],
    ['throttled', answered(429, '600')],
  ] as const)(
    'a probe that is %s is recorded, uses up no attempt, and the delivery keeps waiting',
    async (outcome, answer) => {
      const performed = await arrange(answer).attempt.perform(DELIVERY, true);

      expect(performed.outcome).toBe(outcome);
      expect(performed.result).toMatchObject({
        status: 'retrying',
        parked: true,
        dueInMs: 0,
        attemptsUsed: DELIVERY.attemptsUsed,
        attempt: { number: 4 },
      });
    },
  );

  it.each([
    ['delivered', answered(204), { status: 'delivered' }],
    ['gone', answered(410), { status: 'failed', reason: 'gone' }],
  ] as const)('a probe that is %s ends its delivery', async (_what, answer, expected) => {
    const { result } = await arrange(answer).attempt.perform(DELIVERY, true);

    expect(result).toMatchObject({ parked: false, attemptsUsed: 3, ...expected });
  });

  it.each<[string, (world: ReturnType<typeof arrange>['world']) => void, Partial<ClaimedDelivery>, string]>([
    ['the destination was deleted', (world) => (world.target = null), {}, 'target_gone'],
    [
      'the destination is disabled',
      (world) => (world.target = { ...(world.target as Target), status: 'disabled' }),
      {},
      'target_disabled',
    ],
    ['retention has dropped the event', () => undefined, { payload: null }, 'expired'],
    ['the payload was erased before the claim', () => undefined, { payload: null, cancelReason: 'erased' }, 'erased'],
    [
      'the payload was erased while the delivery waited in this process',
      (world) => (world.cancelReason = 'erased'),
      {},
      'erased',
    ],
    [
      'the delivery was cancelled while it waited in this process',
      (world) => (world.cancelReason = 'cancelled'),
      {},
      'cancelled',
    ],
  ])('sends nothing and ends the delivery when %s', async (_what, happen, change, reason) => {
    const { attempt, world } = arrange();
    happen(world);

    const performed = await attempt.perform({ ...DELIVERY, ...change }, false);

    expect(world.sent).toEqual([]);
    expect(performed).toEqual({
      outcome: null,
      target: world.target,
      result: {
        ...KEY,
        status: 'failed',
        reason,
        dueInMs: null,
        parked: false,
        attemptsUsed: 2,
        pulled: false,
        counted: true,
        attempt: null,
      },
    });
  });

  it('records a delivery to a pull target as delivered, without an attempt', async () => {
    const { attempt, world } = arrange();
    world.pulled = true;

    const performed = await attempt.perform(DELIVERY, false);

    expect(world.sent).toEqual([]);
    expect(performed).toMatchObject({
      outcome: null,
      result: { status: 'delivered', attempt: null, attemptsUsed: 2, pulled: true },
    });
  });

  it.each([
    ['storage was away', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }), 1_000],
    [
      'storage became unavailable during a query of the adapter',
      new Error('The email could not be read', { cause: Object.assign(new Error('stopping'), { code: '57P01' }) }),
      1_000,
    ],
    ['there is a bug in Posthorn', new TypeError('x is not a function'), 30_000],
    ['the adapter says when', new Postponed('The domain is paused.', 250_000), 250_000],
  ])('uses up no attempt and retries later when %s', (_why, error, dueInMs) => {
    const { attempt } = arrange();

    expect(attempt.postponed(DELIVERY, error)).toMatchObject({
      status: 'retrying',
      dueInMs,
      attemptsUsed: 2,
      attempt: null,
    });
  });
});
