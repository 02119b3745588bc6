import { Logger } from '@nestjs/common';
import { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import type { Notifications } from '#kernel/database/notifications.js';
import type { Targets } from '#modules/destinations/targets.js';
import type { Claims } from '#modules/ledger/claims.js';
import type { DeliveryHandoff } from '#modules/ledger/delivery-handoff.js';
import type { RecordResults } from '#modules/ledger/record.js';
import type { Attempt } from './attempt.js';
import type { CircuitWatch } from './circuit-watch.js';
import type { DeliveryLog } from './delivery-log.js';
import type { DeliveryListeners } from './listeners.js';
import type { DeliveryTurn, LocalScheduler } from './local-scheduler.js';
import { DeliveryWorker } from './worker.js';

const TURN = { delivery: { environmentId: 1, eventId: 'e', ordinal: 0, targetId: 't' }, probe: false } as DeliveryTurn;

const SUCCEEDED = { result: { status: 'delivered', reason: null, attempt: null }, outcome: 'success', target: null };

/** Creates a worker whose dependencies record their calls. `breaks` contains the errors of the steps that fail. */
function arrange(
  breaks: { attempt?: Error; record?: Error; notify?: Error; count?: Error } = {},
  performed: unknown = SUCCEEDED,
) {
  const calls: string[] = [];
  const or = <T>(error: Error | undefined, value: T): T => {
    if (error) throw error;
    return value;
  };
  let run: (deliveryTurn: DeliveryTurn) => void = () => undefined;
  const scheduler = {
    connect: (runTurn: (deliveryTurn: DeliveryTurn) => void) => void (run = runTurn),
    recordAnswer: (_turn: DeliveryTurn, outcome: string | null) => calls.push(`answered ${outcome}`),
    releaseSlot: () => calls.push('done'),
  } as unknown as LocalScheduler;
  const attempt = {
    perform: async () => or(breaks.attempt, performed),
    postponed: () => ({ status: 'retrying' }),
  } as unknown as Attempt;
  let recorded = 0;
  const results = {
    record: async ({ status }: { status: string }) => {
      calls.push(`record ${status}`);
      return or(recorded++ === 0 ? breaks.record : undefined, true);
    },
  } as unknown as RecordResults;
  const circuits = { onOpen: () => undefined, count: () => or(breaks.count, undefined) } as unknown as CircuitWatch;
  const claims = { waitingDestinations: async () => ({ targets: [], last: null }) } as unknown as Claims;
  const listeners = {
    hasListeners: true,
    notify: () => or(breaks.notify, (): unknown => calls.push('notified'))(),
  } as unknown as DeliveryListeners;
  const worker = new DeliveryWorker(
    scheduler,
    attempt,
    claims,
    results,
    { attachScheduler: () => undefined } as unknown as DeliveryHandoff,
    {
      disable: async (environmentId: number, id: string, why: string) =>
        calls.push(`disable ${environmentId} ${id}: ${why}`),
    } as unknown as Targets,
    circuits,
    { on: () => undefined } as unknown as Notifications,
    listeners,
    { logResult: () => undefined } as unknown as DeliveryLog,
    new LoadMonitor(),
  );
  worker.start(() => undefined);
  return { worker, calls, run: () => run(TURN) };
}

describe('DeliveryWorker', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('records the result of an attempt, then releases the delivery, then notifies', async () => {
    const { worker, calls, run } = arrange();
    run();
    await worker.idle();

    expect(calls).toEqual(['answered success', 'record delivered', 'done', 'notified']);
  });

  it.each<[string, Parameters<typeof arrange>[0], string[]]>([
    ['a listener', { notify: new Error('a bug') }, ['answered success', 'record delivered', 'done']],
    [
      'the circuit breaker',
      { count: new Error('a bug') },
      ['answered success', 'record delivered', 'done', 'notified'],
    ],
    ['an attempt', { attempt: new Error('a bug') }, ['answered null', 'record retrying', 'done']],
    ['recording', { record: new Error('a bug') }, ['answered success', 'record delivered', 'record retrying', 'done']],
  ])('releases a delivery exactly once, whatever fails: %s', async (_what, breaks, expected) => {
    const { worker, calls, run } = arrange(breaks);
    run();
    await worker.idle();

    expect(calls).toEqual(expected);
  });

  it.each<[string, string | null, string | null, string[]]>([
    ['disables its destination after 410', 'gone', 'd', ['disable 1 d: The receiver answered 410 Gone.']],
    ['with 410 disables nothing if its target is an ad-hoc URL', 'gone', null, []],
    ['disables nothing if it failed for another reason', 'exhausted', 'd', []],
  ])('a failed delivery %s', async (_what, reason, destinationId, expected) => {
    const failed = {
      result: { status: 'failed', reason, attempt: null },
      outcome: 'permanent',
      target: { destinationId },
    };
    const { worker, calls, run } = arrange({}, failed);

    run();
    await worker.idle();

    expect(calls).toEqual(['answered permanent', 'record failed', 'done', 'notified', ...expected]);
  });

  it('is idle after its last delivery, and immediately if there is none', async () => {
    const { worker, calls, run } = arrange();
    await worker.idle();
    run();
    run();
    await worker.idle();

    expect(calls.filter((each) => each === 'done')).toHaveLength(2);
  });
});
