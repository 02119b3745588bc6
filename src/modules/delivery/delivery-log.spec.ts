import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Clock } from '#kernel/clock.js';
import type { Config, LogLevel } from '#kernel/config/config.js';
import type { Target } from '#modules/destinations/contract.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { DeliveryResult } from '#modules/ledger/record.contract.js';
import type { Performed } from './attempt.js';
import { DeliveryLog } from './delivery-log.js';

const DELIVERY = {
  environmentId: 7,
  eventId: '01563e3a-b5d3-d676-4c61-efb99302bd5b',
  ordinal: 0,
  direction: 'outbound',
  messageId: null,
  targetId: '0190f0a0-0000-0000-0000-000000000001',
  url: null,
} as ClaimedDelivery;
const TARGET = {
  destinationId: DELIVERY.targetId,
  ownerId: null,
  url: new URL('https://hooks.example.com/hidden?token=hidden'),
} as Target;
const attempt = { number: 1, startedAtMs: 0, durationMs: 42, httpStatus: 500, error: null, excerpt: 'hidden' };
const failed = (more: Partial<DeliveryResult> = {}): Performed => ({
  outcome: 'failed',
  target: TARGET,
  result: { status: 'retrying', reason: null, dueInMs: 5_000, attempt, ...more } as DeliveryResult,
});
const delivered: Performed = {
  outcome: 'success',
  target: TARGET,
  result: { ...failed().result, status: 'delivered', dueInMs: null, attempt: { ...attempt, httpStatus: 200 } },
};

describe('DeliveryLog', () => {
  let nowMs: number;
  let lines: unknown[][];

  beforeEach(() => {
    jest.useFakeTimers();
    nowMs = 0;
    lines = [];
    jest.spyOn(Logger.prototype, 'log').mockImplementation((...line: unknown[]) => void lines.push(line));
  });

  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const logAt = (logLevel: LogLevel): DeliveryLog =>
    new DeliveryLog({ logLevel } as Config, { monotonicMs: () => nowMs } as Clock);
  const pass = (ms: number): void => {
    nowMs += ms;
    jest.advanceTimersByTime(ms);
  };

  it('logs a delivery with the ids of request, message, event and destination, and without possible secrets', () => {
    logAt('info').logResult(DELIVERY, delivered);

    expect(lines).toEqual([
      [
        'Delivered',
        {
          request_id: 'req_01ARZ3NDEKTSV4RRFFQ69G5FAV',
          message: 'msg_01ARZ3NDEKTSV4RRFFQ69G5FAV',
          event: 'evt_01ARZ3NDEKTSV4RRFFQ69G5FAV',
          destination: 'dst_01J3RA0000000000000000000' + '1',
          host: 'hooks.example.com',
          status: 'delivered',
          attempt: 1,
          duration_ms: 42,
          http_status: 200,
        },
      ],
    ]);
    expect(JSON.stringify(lines)).not.toContain('hidden');
  });

  it.each([
    [DELIVERY.targetId, /^dst_/],
    ['0190f0a0-0000-0000-0000-000000000009', /^ep_/],
  ])('logs the id of a target as the API shows it: owner %s', (ownerId, id) => {
    logAt('info').logResult(DELIVERY, { ...delivered, target: { ...TARGET, ownerId } });

    expect(lines).toEqual([['Delivered', expect.objectContaining({ destination: expect.stringMatching(id) })]]);
  });

  it('logs the first failure of a target, and sums up the others in one line every ten seconds', () => {
    const log = logAt('info');

    for (let n = 0; n < 1_000; n += 1) log.logResult(DELIVERY, failed());
    log.logResult({ ...DELIVERY, targetId: '0190f0a0-0000-0000-0000-000000000002' }, failed());
    expect(lines.map(([message]) => message)).toEqual(['Delivery failed', 'Delivery failed']);
    log.logResult(DELIVERY, failed({ status: 'dlq', dueInMs: null }));
    pass(11_000);

    expect(lines[2]).toEqual([
      'Delivery failed 1000 more times',
      expect.objectContaining({
        host: 'hooks.example.com',
        retrying: 999,
        dlq: 1,
        last: expect.objectContaining({ status: 'dlq', http_status: 500 }),
      }),
    ]);
    pass(20_000);
    expect(lines).toHaveLength(3);
    log.logResult(DELIVERY, failed());
    expect(lines[3]?.[0]).toBe('Delivery failed');
    log.onApplicationShutdown();
  });

  it('logs deliveries that ended without an attempt, but not postponed or pulled ones', () => {
    const log = logAt('debug');

    log.logResult(DELIVERY, failed({ attempt: null }));
    log.logResult(DELIVERY, { ...delivered, result: { ...delivered.result, attempt: null } });
    expect(lines).toEqual([]);
    log.logResult(DELIVERY, failed({ status: 'failed', reason: 'target_gone', attempt: null, dueInMs: null }));

    expect(lines).toEqual([['Delivery failed', expect.objectContaining({ status: 'failed', reason: 'target_gone' })]]);
    log.onApplicationShutdown();
  });

  it('keeps separate counts for 1,000 targets, and counts all other failures together', () => {
    const log = logAt('info');

    for (let n = 0; n < 3_000; n += 1)
      log.logResult({ ...DELIVERY, targetId: `0190f0a0-0000-0000-0001-${String(n).padStart(12, '0')}` }, failed());
    pass(11_000);

    expect(lines).toHaveLength(1_002);
    expect(lines.at(-1)?.[0]).toBe('Delivery failed 1999 more times');
    log.onApplicationShutdown();
  });

  it.each<LogLevel>(['warn', 'error', 'fatal', 'silent'])('logs and computes nothing at level %s', (level) => {
    logAt(level).logResult(null as never, null as never);

    expect(lines).toEqual([]);
  });
});
