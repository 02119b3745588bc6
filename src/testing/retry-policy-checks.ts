import assert from 'node:assert/strict';
import type { FailedAttempt } from '#engine/outcome.js';
import type { NamedRetryPolicy } from '#modules/destinations/retry-policies.contract.js';
import { type Access, Client, until } from './client.js';
import type { ConformanceCheck } from './conformance-check.js';
import type { TargetUnderTest } from './door-checks.js';

export interface RetryPolicyUnderTest {
  service(): Promise<Access> | Access;
  /** Returns an instance of the policy, so that the checks can call it directly. */
  policy(): Promise<NamedRetryPolicy> | NamedRetryPolicy;
  target: TargetUnderTest & { answer(status: number): void };
}

type Json = Record<string, unknown>;

const STATUSES = [100, 204, 301, 400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504, 599, 999];
const ERRORS = ['timeout', 'dns', 'connection', 'tls', 'blocked', 'protocol', 'adapter'] as const;
/** Status of a target that is down, the usual reason for retries. */
const DOWN = 500;

/**
 * Returns checks of a retry policy: its limits are valid, its decisions stay within the limits, and the service follows
 * them.
 */
export function retryPolicyConformance(subject: RetryPolicyUnderTest): ConformanceCheck[] {
  const { target } = subject;
  const client = async (): Promise<Client> => new Client(await subject.service());
  const draft = (retry: object): Json => ({
    name: 'Conformance',
    type: 'https',
    url: target.url,
    retry,
    config: { circuit_breaker: { failure_threshold: 1000 } },
  });
  return [
    {
      name: 'for every attempt result, the ruling is within the schedule and deterministic',
      run: async () => {
        const policy = await subject.policy();
        for (const failed of everyFailure(policy.maxAttempts)) {
          const said = JSON.stringify(failed);
          const delaySeconds = policy.delaySeconds?.({ ...failed }) ?? null;
          const stepSeconds = stepAfter(policy, failed.number);
          assert.ok(
            delaySeconds === null || (delaySeconds >= 0 && delaySeconds <= stepSeconds),
            `waits ${delaySeconds} s of ${stepSeconds} after ${said}`,
          );
          assert.equal(policy.delaySeconds?.({ ...failed }) ?? null, delaySeconds, said);
          assert.equal(typeof (policy.isRetryable?.({ ...failed }) ?? true), 'boolean', said);
        }
      },
    },
    {
      name: 'a destination with the policy shows its name and numbers',
      run: async () => {
        const { name, maxAttempts, scheduleSeconds } = await subject.policy();
        const created = await (await client()).expect(201, 'POST', '/v1/destinations', draft({ policy: name }));
        assert.deepEqual(created['retry'], { policy: name, max_attempts: maxAttempts, schedule: [...scheduleSeconds] });
      },
    },
    {
      name: '422: the policy is named together with other settings, or its name is unknown',
      run: async () => {
        const [api, { name }] = [await client(), await subject.policy()];
        const both = await api.expect(422, 'POST', '/v1/destinations', draft({ policy: name, max_attempts: 2 }));
        assert.match(JSON.stringify(both), /"retry\.policy"/);
        const unknown = await api.expect(422, 'POST', '/v1/destinations', draft({ policy: `${name}-else`.slice(-64) }));
        assert.ok(JSON.stringify(unknown).includes(name));
      },
    },
    {
      name: 'a failed delivery is retried when the policy says so, or dead-lettered when it says that',
      run: async () => {
        const [api, policy] = [await client(), await subject.policy()];
        const { id: destination } = await api.expect(201, 'POST', '/v1/destinations', draft({ policy: policy.name }));
        target.answer(DOWN);
        const { message_id: id } = await api.expect(202, 'POST', '/v1/send', {
          destination,
          event_type: 'conformance.retried',
          payload: { a: 1 },
        });
        const event = await until(
          () => api.expect(200, 'GET', `/v1/events/${id as string}`),
          ({ attempts }) => (attempts as Json[]).length > 0,
        );
        target.answer(200);
        const failed: FailedAttempt = { number: 1, outcome: 'failed', status: DOWN, error: null };
        if (policy.maxAttempts === 1 || policy.isRetryable?.(failed) === false)
          return assert.equal(event['status'], 'dlq');
        const [[delivery], [attempt]] = [event['deliveries'] as Json[], event['attempts'] as Json[]];
        const boundSeconds = policy.delaySeconds?.(failed) ?? stepAfter(policy, 1);
        const dueMs = Date.parse(String(delivery?.['next_attempt_at']));
        const endedMs = Date.parse(attempt?.['at'] as string) + (attempt?.['duration_ms'] as number);
        // The API shows no due time if the next attempt has already happened.
        assert.ok(
          Number.isNaN(dueMs) || dueMs <= endedMs + boundSeconds * 1000 + TOLERANCE_MS,
          `is retried at ${dueMs}, after ${endedMs}`,
        );
      },
    },
  ];
}

/** Maximum time between the end of an attempt and the policy's decision on when to make the next attempt. */
const TOLERANCE_MS = 5_000;

function everyFailure(maxAttempts: number): FailedAttempt[] {
  const numbers = Array.from({ length: maxAttempts - 1 }, (_, i) => i + 1);
  return numbers.flatMap((number) => [
    ...STATUSES.map((status): FailedAttempt => ({
      number,
      outcome: status === 429 || (status >= 502 && status <= 504) ? 'throttled' : 'failed',
      status,
      error: null,
    })),
    ...ERRORS.map((error): FailedAttempt => ({ number, outcome: 'failed', status: null, error })),
  ]);
}

function stepAfter({ scheduleSeconds }: NamedRetryPolicy, attempt: number): number {
  return scheduleSeconds[Math.min(attempt, scheduleSeconds.length - 1)] ?? 0;
}
