import { jest } from '@jest/globals';
import { QueryClient } from '@tanstack/react-query';
import { holdsNow } from './holds-now';

describe('holdsNow', () => {
  afterEach(() => void jest.useRealTimers());

  it.each<[name: string, queryFn: () => Promise<number>, expected: boolean]>([
    ['false if new data does not meet the condition', () => Promise.resolve(0), false],
    ['true if new data meets the condition', () => Promise.resolve(2), true],
    ['true if the request fails', () => Promise.reject(new Error('no')), true],
    ['true if the service stays silent', () => new Promise(() => undefined), true],
  ])('returns %s, whatever the cache contains', async (_name, queryFn, expected) => {
    jest.useFakeTimers();
    const queries = new QueryClient();
    queries.setQueryData(['count'], expected ? 0 : 1);

    const result = holdsNow(queries, { queryKey: ['count'], queryFn }, (count) => count > 0);
    await jest.advanceTimersByTimeAsync(3_000);

    expect(await result).toBe(expected);
    queries.clear();
  });
});
