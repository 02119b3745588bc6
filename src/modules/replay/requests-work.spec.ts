import { conflict, unavailable } from '#kernel/errors.js';
import type { ReplayJob } from './replay-job.js';
import { RequestsWork } from './requests-work.js';

const ID = '01890000-0000-7000-8000-00000000000';
const JOB = { environmentId: 1, id: `${ID}0`, endpointId: `${ID}1`, status: 'parked' } as unknown as ReplayJob;

const requestsOf = (count: number): { id: string; isErased: boolean }[] =>
  Array.from({ length: count }, (_, n) => ({ id: `${ID.slice(0, -2)}${String(n + 100)}`, isErased: false }));

/** Returns the work source for two requests. The release of the first request fails. */
function failingFirst(error: Error): RequestsWork {
  const found = requestsOf(2);
  const release = (_environment: number, _endpoint: string, id: string): Promise<object> =>
    id === found[0]?.id ? Promise.reject(error) : Promise.resolve({ isReleased: true, deliveries: 1 });
  return new RequestsWork(
    { page: () => Promise.resolve({ requests: found, scannedTo: null }) } as never,
    { release } as never,
  );
}

describe('RequestsWork', () => {
  it('counts a rejected request as skipped, and releases the requests after it', async () => {
    expect(await failingFirst(conflict('This is a loop.')).work(JOB)).toMatchObject({
      scanned: 2,
      skipped: 1,
      replayed: 1,
      enqueued: 1,
      isOver: true,
    });
  });

  it.each([unavailable('Too many transforms are running.'), new Error('connection lost')])(
    'repeats the page after a temporary error: %s',
    async (error) => {
      await expect(failingFirst(error).work(JOB)).rejects.toBe(error);
    },
  );

  it.each([
    ['a page without requests, as there may be more events', 0, { fromId: `${ID.slice(0, -2)}900` }, false],
    ['a part of a page, as there may be more events', 3, { fromId: `${ID.slice(0, -2)}900` }, false],
    ['a full page', 100, {}, false],
  ])('continues after %s', async (_what, count, expected, isOver) => {
    const page = { requests: requestsOf(count), scannedTo: `${ID.slice(0, -2)}8ff` };
    const release = (): Promise<object> => Promise.resolve({ isReleased: true, deliveries: 1 });
    const work = new RequestsWork({ page: () => Promise.resolve(page) } as never, { release } as never);

    expect(await work.work(JOB)).toMatchObject({ scanned: count, isOver, ...expected });
  });
});
