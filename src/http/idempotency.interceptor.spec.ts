import { jest } from '@jest/globals';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { from, lastValueFrom } from 'rxjs';
import type { Database } from '#kernel/database/database.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import type { IdempotencyStore, Reservation } from './idempotency.store.js';
import type { IdempotencyReleaseRetry } from './idempotency-release-retry.js';
import { IdempotentWork } from './idempotent-work.js';

const RESERVATION: Reservation = {
  environmentId: 1,
  route: 'POST /v1/destinations',
  key: 'k',
  fingerprint: Buffer.alloc(32),
  fence: 'f',
};

describe('IdempotencyInterceptor', () => {
  let calls: string[];
  let isAway: boolean;
  let end: (result: object) => void;
  let fail: (error: Error) => void;

  function answer(): Promise<unknown> {
    const noted = (name: string) => async (): Promise<Reservation> => {
      calls.push(name);
      if (isAway) throw new Error('Connection terminated');
      return RESERVATION;
    };
    const answers = {
      reserve: async () => RESERVATION,
      complete: noted('complete'),
      release: noted('release'),
      renew: noted('renew'),
    };
    const database = {
      isInTransaction: () => false,
      unitOfWork: <T>(work: () => Promise<T>) => work(),
      transaction: <T>(work: () => Promise<T>) => work(),
    };
    const request = { idempotency: RESERVATION, bodyFault: null };
    const http = { getRequest: () => request, getResponse: () => ({ statusCode: 201, header: () => undefined }) };
    const result = new Promise<object>((resolve, reject) => ([end, fail] = [resolve, reject]));
    const interceptor = new IdempotencyInterceptor(
      new IdempotentWork(
        answers as unknown as IdempotencyStore,
        database as unknown as Database,
        { enqueue: () => calls.push('enqueue') } as unknown as IdempotencyReleaseRetry,
      ),
    );
    const next: CallHandler = { handle: () => from(result) };
    return interceptor
      .intercept({ switchToHttp: () => http } as unknown as ExecutionContext, next)
      .then((answer) => lastValueFrom(answer));
  }

  beforeEach(() => {
    jest.useFakeTimers();
    [calls, isAway] = [[], false];
  });

  afterEach(() => jest.useRealTimers());

  it('renews the reservation of a long request, and only while it runs', async () => {
    const answered = answer();
    await jest.advanceTimersByTimeAsync(3_900);
    expect(calls).toEqual([]);
    isAway = true;
    await jest.advanceTimersByTimeAsync(4_200);
    expect(calls).toEqual(['renew', 'renew']);

    isAway = false;
    end({ id: 1 });
    expect(await answered).toBe('{"id":1}');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual(['renew', 'renew', 'complete']);
  });

  it('releases the key of a failed request, later if storage is unavailable', async () => {
    const first = answer();
    await jest.advanceTimersByTimeAsync(0);
    fail(new Error('refused'));
    await expect(first).rejects.toThrow('refused');
    expect(calls).toEqual(['release']);

    calls = [];
    isAway = true;
    const second = answer();
    await jest.advanceTimersByTimeAsync(0);
    fail(new Error('away'));
    await expect(second).rejects.toThrow('away');
    expect(calls).toEqual(['release', 'enqueue']);
    expect(jest.getTimerCount()).toBe(0);
  });
});
