import fc from 'fast-check';
import type { Outcome } from '#engine/outcome.js';
import { SystemClock } from '#kernel/clock.js';
import type { LoadMonitor } from '#kernel/concurrency/load-monitor.js';
import type { Config } from '#kernel/config/config.js';
import type { Environments } from '#modules/auth/environments/environments.js';
import type { ClaimedDelivery } from '#modules/ledger/claims.contract.js';
import type { CircuitWatch } from './circuit-watch.js';
import { type DeliveryTurn, LocalScheduler } from './local-scheduler.js';
import type { RateLimitTokens } from './rate-limit-tokens.js';
import type { WorkerHeartbeat } from './worker-heartbeat.js';

function arrange(deliveryConcurrency: number) {
  const world = { laterMs: 0 };
  const clock = Object.assign(new SystemClock(), { monotonicMs: () => world.laterMs });
  const presence = {
    claimant: () => 'worker',
    mayStart: () => true,
    isOwnClaim: () => true,
  } as unknown as WorkerHeartbeat;
  const environments = {
    get: async (environmentId: number) => ({ organizationId: `organization ${environmentId}` }),
  } as unknown as Environments;
  const load = { sampler: () => () => ({ urgentPerSecond: 0, utilization: 1 }) } as unknown as LoadMonitor;
  const scheduler = new LocalScheduler(
    { deliveryConcurrency } as Config,
    { isClosed: () => true } as unknown as CircuitWatch,
    {} as RateLimitTokens,
    presence,
    environments,
    clock,
    load,
  );
  const running: DeliveryTurn[] = [];
  scheduler.connect(
    (turn) => running.push(turn),
    () => undefined,
  );
  const end = (targetId: string, outcome: Outcome | null = 'success', isTimedOut = false): void => {
    const at = running.findIndex(({ delivery }) => delivery.targetId === targetId);
    const [turn] = running.splice(at, at < 0 ? 0 : 1);
    if (!turn) throw new Error(`Nothing runs against ${targetId}.`);
    scheduler.recordAnswer(turn, outcome, isTimedOut);
    scheduler.releaseSlot(turn);
  };
  const against = (targetId: string): number => running.filter(({ delivery }) => delivery.targetId === targetId).length;
  return { scheduler, world, running, end, against };
}

let count = 0;

describe('LocalScheduler: targets that are not known to respond', () => {
  const of = (environmentId: number, targetId: string, attempts = 0): ClaimedDelivery => {
    count += 1;
    return {
      environmentId,
      eventId: `event ${count}`,
      ordinal: 0,
      targetId,
      payload: '{}',
      attempts,
    } as ClaimedDelivery;
  };

  /** Sends `sent` deliveries of one environment to unresponsive targets, with 64 slots. `count` attempts time out. */
  function hang(count: number, sent = 200) {
    const arranged = arrange(64);
    const { scheduler, running, end } = arranged;
    const answer = (environmentId: number, targetId: string): void => {
      scheduler.accept(of(environmentId, targetId));
      end(targetId);
    };
    answer(1, 'known');
    answer(3, 'healthy');
    for (let i = 0; i < sent; i += 1) scheduler.accept(of(1, `hanging ${i}`));
    const runOut = (more: number): void => {
      for (let i = 0; i < more; i += 1) end(oldest('hanging'), 'failed', true);
    };
    const oldest = (name: string): string =>
      running.find(({ delivery: { targetId } }) => targetId.startsWith(name))?.delivery.targetId ?? name;
    const hanging = (): number => running.filter(({ delivery: { targetId } }) => targetId.startsWith('hanging')).length;
    runOut(count);
    return { ...arranged, runOut, oldest, hanging, answer };
  }

  it('get a quarter of the slots once hardly any of them responds while other targets do', () => {
    const { scheduler, hanging, runOut } = hang(31);
    expect(hanging()).toBe(64);

    runOut(60);
    expect(hanging()).toBe(16);
    expect(scheduler.figures().heldBack).toBeGreaterThan(50);

    runOut(10);
    expect(hanging()).toBe(16);
  });

  it('do not delay responding targets of the same environment, probes, or other environments', () => {
    const { scheduler, hanging, against } = hang(80);

    scheduler.accept(of(1, 'known'));
    scheduler.accept(of(2, 'new'));
    scheduler.accept(of(1, 'probed'), true);
    scheduler.accept(of(1, 'unknown'));

    expect(['known', 'new', 'probed', 'unknown'].map(against)).toEqual([1, 1, 1, 0]);
    expect(hanging()).toBeLessThanOrEqual(16);
  });

  it('include a target that responded before only after three consecutive timeouts', () => {
    const { scheduler, against, end } = hang(80);
    for (let i = 0; i < 2; i += 1) {
      scheduler.accept(of(1, 'known'));
      end('known', 'failed', true);
    }
    scheduler.accept(of(1, 'known'));
    expect(against('known')).toBe(1);

    end('known', 'failed', true);
    scheduler.accept(of(1, 'known'));

    expect(against('known')).toBe(0);
  });

  it('get every slot again once they respond', () => {
    const { hanging, end, oldest, runOut } = hang(80);
    expect(hanging()).toBe(16);

    for (let i = 0; i < 12; i += 1) end(oldest('hanging'));

    expect(hanging()).toBe(64);
    runOut(40);
    expect(hanging()).toBeLessThan(64);
  });

  it('are not affected by attempts that sent nothing', () => {
    const { hanging, end, oldest } = hang(80);

    for (let i = 0; i < 12; i += 1) end(oldest('hanging'), null);

    expect(hanging()).toBe(16);
  });

  it('get every slot while no target at all responds', () => {
    const { scheduler, running, end } = arrange(64);
    for (let i = 0; i < 200; i += 1) scheduler.accept(of(1, `hanging ${i}`));

    for (let i = 0; i < 100; i += 1) end(running[0]?.delivery.targetId ?? '', 'failed', true);

    expect(running).toHaveLength(64);
  });

  it('cause no pressure on senders', () => {
    const { scheduler, answer } = hang(80);
    for (let i = 0; i < 100; i += 1) answer(1, 'known');

    expect(scheduler.figures().heldBack).toBeGreaterThan(100);
    expect(scheduler.pressure(1)).toBeNull();
  });

  it('are limited before their timeouts: with more than a quarter in flight and no response for three seconds, no more start', () => {
    const { scheduler, world, hanging, end, against, oldest } = hang(0, 40);
    world.laterMs = 2_900;
    scheduler.accept(of(1, 'one more'));
    expect([hanging(), against('one more')]).toEqual([40, 1]);

    world.laterMs = 3_100;
    scheduler.accept(of(1, 'hanging as well'));
    expect([hanging(), scheduler.figures().heldBack]).toEqual([40, 1]);

    end(oldest('hanging'));
    expect([hanging(), scheduler.figures().heldBack]).toEqual([40, 0]);
  });

  it('get exactly a quarter of the slots after three seconds without a response', () => {
    const { scheduler, world, hanging } = hang(0, 10);
    world.laterMs = 6_000;

    for (let i = 0; i < 20; i += 1) scheduler.accept(of(1, `hanging later ${i}`));

    expect(hanging()).toBe(16);
  });

  it('get every slot with the next heartbeat once no target has responded for a minute', () => {
    const { scheduler, world, hanging } = hang(80);
    world.laterMs = 60_100;
    expect(hanging()).toBe(16);

    scheduler.resume();

    expect(hanging()).toBe(64);
  });

  it('all start eventually, whichever targets respond', () => {
    const choice = fc.record({
      pick: fc.nat(),
      ends: fc.constantFrom('success', 'timeout', 'timeout', 'timeout', 'timeout', 'unsent'),
    });
    fc.assert(
      fc.property(fc.array(choice, { minLength: 60, maxLength: 400 }), (choices) => {
        const { scheduler, running, end } = arrange(16);
        for (let i = 0; i < 300; i += 1) scheduler.accept(of((i % 3) + 1, `target ${i % 150}`, i % 4 === 0 ? 1 : 0));
        for (const { pick, ends } of choices) {
          const turn = running[pick % running.length];
          if (turn)
            end(
              turn.delivery.targetId,
              ends === 'unsent' ? null : ends === 'success' ? 'success' : 'failed',
              ends === 'timeout',
            );
        }
        while (running[0]) end(running[0].delivery.targetId, 'failed', true);

        expect(scheduler.figures()).toMatchObject({ running: 0, held: 0, heldBack: 0 });
      }),
      { numRuns: 50 },
    );
  }, 60_000);
});
