import type { EventDetail } from './event-queries';
import { deliveryStatusOf, eventStatusOf, rowStatusOf, timelineOf } from './timeline';

type Detail = Parameters<typeof timelineOf>[0];
type Delivery = EventDetail['deliveries'][number];
type Attempt = EventDetail['attempts'][number];

const at = (minute: number): string => `2026-11-21T09:${String(minute).padStart(2, '0')}:00.000Z`;

function delivery(changes: Partial<Delivery> = {}): Delivery {
  return {
    id: 'evt_1.0',
    destination: 'dst_1',
    status: 'delivered',
    next_attempt_at: null,
    circuit: null,
    reason: null,
    replayed: false,
    ...changes,
  };
}

function attempt(number: number, status: number | null, changes: Partial<Attempt> = {}): Attempt {
  return {
    delivery: 'evt_1.0',
    destination: 'dst_1',
    number,
    status,
    duration_ms: 5,
    at: at(number),
    response_excerpt: null,
    error: status === null ? 'timeout' : null,
    replayed: false,
    ...changes,
  };
}

function said(event: Partial<Detail>): string[] {
  const detail: Detail = { received_at: at(0), status: 'delivered', deliveries: [], attempts: [], ...event };
  return timelineOf(detail).map((entry) => {
    if (entry.kind === 'attempt')
      return `${entry.attempt.delivery} attempt ${entry.attempt.number}${entry.isGood ? ' good' : ''}${entry.isFinal ? ' final' : ''}`;
    if (entry.kind === 'end' || entry.kind === 'set-aside') return `${entry.kind} ${entry.status}`;
    return entry.kind;
  });
}

describe('timelineOf', () => {
  it.each<[string, Partial<Detail>, string[]]>([
    [
      'delivered at the second attempt',
      { deliveries: [delivery()], attempts: [attempt(1, 503), attempt(2, 200)] },
      ['evt_1.0 attempt 2 good final', 'evt_1.0 attempt 1', 'accepted'],
    ],
    [
      'waiting for a retry',
      {
        status: 'retrying',
        deliveries: [delivery({ status: 'retrying', next_attempt_at: at(30) })],
        attempts: [attempt(1, null)],
      },
      ['next', 'evt_1.0 attempt 1', 'accepted'],
    ],
    ['in flight', { status: 'retrying', deliveries: [delivery({ status: 'retrying' })] }, ['next', 'accepted']],
    [
      'behind an open circuit',
      {
        status: 'retrying',
        deliveries: [
          delivery({
            status: 'retrying',
            next_attempt_at: at(40),
            circuit: { state: 'open', opened_at: at(2), next_probe_at: at(30) },
          }),
        ],
        attempts: [attempt(1, 503)],
      },
      ['probe', 'circuit', 'evt_1.0 attempt 1', 'accepted'],
    ],
    [
      'out of retries',
      { status: 'dlq', deliveries: [delivery({ status: 'dlq' })], attempts: [attempt(1, 503)] },
      ['end dlq', 'evt_1.0 attempt 1', 'accepted'],
    ],
    [
      'replaced by a replay that delivered',
      {
        deliveries: [delivery({ status: 'failed', reason: 'superseded' }), delivery({ id: 'evt_1.1', replayed: true })],
        attempts: [attempt(1, 503), attempt(3, 200, { delivery: 'evt_1.1' })],
      },
      ['evt_1.1 attempt 3 good final', 'end superseded', 'evt_1.0 attempt 1', 'accepted'],
    ],
    ['to pull', { deliveries: [delivery()] }, ['end available', 'accepted']],
    [
      'pulled and acknowledged',
      { deliveries: [delivery({ pull: { acknowledged: true, feed: 'dst_1', committed_at: at(1) } })] },
      ['end acknowledged', 'accepted'],
    ],
    ['not delivered anywhere', { status: 'ignored' }, ['set-aside ignored', 'accepted']],
  ])('%s', (_, event, expected) => {
    expect(said(event)).toEqual(expected);
  });
});

describe('states as shown', () => {
  it.each([
    ['delivered', null, true, 'delivered'],
    ['delivered', null, false, 'available'],
    ['failed', 'superseded', true, 'superseded'],
    ['failed', 'gone', true, 'failed'],
    ['dlq', null, true, 'dlq'],
  ] as const)('a delivery that is %s with reason %j: %s attempts, %s', (status, reason, hasAttempts, expected) => {
    expect(deliveryStatusOf({ status, reason }, hasAttempts)).toBe(expected);
  });

  it.each([
    [undefined, 0, 'available'],
    [false, 0, 'available'],
    [true, 0, 'acknowledged'],
    [true, 1, 'delivered'],
  ])('a delivered event whose acknowledgement is %j after %i attempts: %s', (acknowledged, count, expected) => {
    expect(eventStatusOf({ status: 'delivered', ...(acknowledged !== undefined && { acknowledged }) }, count)).toBe(
      expected,
    );
  });

  it.each([
    ['delivered', 0, 'available'],
    ['delivered', 1, 'delivered'],
    ['retrying', 0, 'retrying'],
  ])('an event that is %s after %i attempts: %s', (status, count, expected) => {
    expect(eventStatusOf({ status }, count)).toBe(expected);
  });

  it.each([
    ['pull', 0, 0, 'available'],
    ['https', 0, 3_600, 'delivered'],
    [undefined, 0, 1, 'delivered'],
    [undefined, 0, 60, 'available'],
    [undefined, 1, 60, 'delivered'],
  ])('a delivered row for a target of type %s after %i attempts and %i s: %s', (type, count, seconds, expected) => {
    const row = { status: 'delivered', attempt_count: count, received_at: at(0) };
    expect(rowStatusOf(row, type, Date.parse(at(0)) + seconds * 1_000)).toBe(expected);
  });
});
