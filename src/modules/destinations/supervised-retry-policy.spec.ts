import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { FailedAttempt, RuledRetryPolicy } from '#engine/outcome.js';
import { NamedRetryPolicy } from '#modules/destinations/retry-policies.contract.js';
import { supervised } from './supervised-retry-policy.js';

const SCHEDULE = [0, 10, 20];
const FAILED: FailedAttempt = { number: 1, outcome: 'failed', status: 500, error: null };

class Patient extends NamedRetryPolicy {
  override readonly name: string = 'patient';
  override readonly description: string = 'Waits.';
  override readonly maxAttempts: number = 5;
  override readonly scheduleSeconds: readonly number[] = SCHEDULE;
}

function arrange(code: Partial<Pick<NamedRetryPolicy, 'delaySeconds' | 'isRetryable'>>): {
  policy: RuledRetryPolicy;
  world: { nowMs: number; failures: number };
} {
  const world = { nowMs: 0, failures: 0 };
  const policy = supervised(Object.assign(new Patient(), code), {
    elapsedMs: () => world.nowMs,
    failed: () => void (world.failures += 1),
  });
  return { policy, world };
}

describe('a retry policy of an extension', () => {
  let logged: string[];

  beforeEach(() => {
    logged = [];
    jest.spyOn(Logger.prototype, 'error').mockImplementation((line: unknown) => void logged.push(String(line)));
  });

  afterEach(() => jest.restoreAllMocks());

  it('is not called if it has only numbers', () => {
    expect(arrange({}).policy).toEqual({ maxAttempts: 5, scheduleSeconds: SCHEDULE });
  });

  it('returns waits from 0 to the step of its schedule, whose last step repeats', () => {
    const { policy, world } = arrange({ delaySeconds: ({ number }) => [10, 0.5, 0, 20][number - 1] ?? NaN });

    const rulings = [1, 2, 3, 4].map((number) => policy.rule?.({ ...FAILED, number }));

    expect(rulings).toEqual([{ delaySeconds: 10 }, { delaySeconds: 0.5 }, { delaySeconds: 0 }, { delaySeconds: 20 }]);
    expect(world.failures).toBe(0);
  });

  it('uses its schedule if it returns null', () => {
    const { policy, world } = arrange({ delaySeconds: () => null });

    expect(policy.rule?.(FAILED)).toBeNull();
    expect(world.failures).toBe(0);
  });

  it('ends a delivery that it does not consider retryable, and receives the response', () => {
    const { policy } = arrange({ isRetryable: ({ status }) => status !== 413 });

    expect(policy.rule?.({ ...FAILED, status: 413 })).toBe('never');
    expect(policy.rule?.(FAILED)).toBeNull();
  });

  it.each<[string, Partial<Pick<NamedRetryPolicy, 'delaySeconds' | 'isRetryable'>>]>([
    [
      'throws',
      {
        delaySeconds: () => {
          throw new Error('a bug');
        },
      },
    ],
    ['answers NaN', { delaySeconds: () => NaN }],
    ['returns a negative number', { delaySeconds: () => -1 }],
    ['returns more than its step', { delaySeconds: () => 10.001 }],
    ['answers for ever', { delaySeconds: () => Infinity }],
    ['answers a text', { delaySeconds: () => '5' as unknown as number }],
    ['answers nothing', { delaySeconds: () => undefined as unknown as number }],
    ['returns a promise that rejects', { delaySeconds: () => Promise.reject(new Error('a bug')) as unknown as number }],
    ['returns neither true nor false', { isRetryable: () => 'no' as unknown as boolean }],
    [
      'returns a promise for isRetryable',
      { isRetryable: async () => false } as unknown as { isRetryable: () => boolean },
    ],
    ['modifies its argument', { delaySeconds: (failed) => (failed.number = 5) }],
  ])('that %s uses its schedule, is counted each time and logged once a minute', (_what, code) => {
    const { policy, world } = arrange(code);

    const rulings = [FAILED, FAILED, FAILED].map((failed) => policy.rule?.(failed));
    world.nowMs += 60_000;
    policy.rule?.(FAILED);

    expect(rulings).toEqual([null, null, null]);
    expect(world.failures).toBe(4);
    expect(logged).toHaveLength(2);
    expect(logged[0]).toMatch(/^The retry policy Patient failed, its schedule holds: /);
  });

  it('that is slow is ignored and not called again for a minute', () => {
    let asked = 0;
    const { policy, world } = arrange({
      delaySeconds: () => {
        asked += 1;
        world.nowMs += asked === 1 ? 51 : 0;
        return 1;
      },
    });

    const rulings = [policy.rule?.(FAILED), policy.rule?.(FAILED)];
    world.nowMs += 60_000;
    rulings.push(policy.rule?.(FAILED));

    expect(rulings).toEqual([null, null, { delaySeconds: 1 }]);
    expect(asked).toBe(2);
    expect(world.failures).toBe(1);
  });

  it.each<[string, object]>([
    ['its name is not of the form', { name: 'Patient!' }],
    ['it has no description', { description: ' ' }],
    ['maxAttempts is no whole number from 1 to 20', { maxAttempts: 21 }],
    ['maxAttempts is no whole number from 1 to 20', { maxAttempts: NaN }],
    ['scheduleSeconds is no list', { scheduleSeconds: [] }],
    ['scheduleSeconds is no list', { scheduleSeconds: [604_801] }],
    ['scheduleSeconds is no list', { scheduleSeconds: [-1] }],
    ['scheduleSeconds is no list', { scheduleSeconds: undefined }],
  ])('makes the start fail if %s: %j', (sentence, numbers) => {
    const policy = Object.assign(new Patient(), numbers);

    expect(() => supervised(policy, { elapsedMs: () => 0, failed: () => undefined })).toThrow(sentence);
  });
});
