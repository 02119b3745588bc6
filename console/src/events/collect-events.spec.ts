import type { EventItem } from '../api/client';
import { Fault } from '../api/fault';
import { collectEvents } from './collect-events';

const page = (ids: readonly number[], next: string | null): { data: EventItem[]; next_cursor: string | null } => ({
  data: ids.map((id) => ({ id: `evt_${id}` }) as EventItem),
  next_cursor: next,
});
const busy = new Fault(429, 'rate_limited', 'Too many.', null, {}, 0);

describe('collectEvents', () => {
  it('collects all pages, and waits when the service asks for it', async () => {
    const answers = [page([1, 2], 'a'), busy, page([], 'b'), page([3], null)];
    const asked: (string | null)[] = [];
    const progress: [number, number | null][] = [];
    const taken: string[] = [];
    const collected = await collectEvents(
      (cursor) => {
        asked.push(cursor);
        const answer = answers.shift();
        return answer instanceof Fault ? Promise.reject(answer) : Promise.resolve(answer ?? page([], null));
      },
      (rows) => taken.push(...rows.map(({ id }) => id)),
      (done, waits) => progress.push([done, waits]),
      new AbortController().signal,
    );

    expect(collected).toEqual({ count: 3, isCut: false });
    expect(asked).toEqual([null, 'a', 'a', 'b']);
    expect(taken).toEqual(['evt_1', 'evt_2', 'evt_3']);
    expect(progress).toEqual([
      [2, null],
      [2, 0],
      [2, null],
      [3, null],
    ]);
  });

  it.each([
    [3, { count: 3, isCut: true }],
    [4, { count: 4, isCut: false }],
  ])('collects at most %i of four events', async (max, expected) => {
    const answers = [page([1, 2], 'a'), page([3, 4], null)];

    expect(
      await collectEvents(
        () => Promise.resolve(answers.shift() ?? page([], null)),
        () => undefined,
        () => undefined,
        new AbortController().signal,
        max,
      ),
    ).toEqual(expected);
  });

  it('a refused call is not retried, and an abort ends the wait', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    const collect = (fault: Fault): Promise<unknown> =>
      collectEvents(
        () => Promise.reject(fault),
        () => undefined,
        () => undefined,
        signal,
      );

    await expect(collect(new Fault(403, 'insufficient_scope', 'No.', null, {}, null))).rejects.toThrow('No.');
    await expect(collect(new Fault(429, 'rate_limited', 'Too many.', null, {}, 600))).rejects.toThrow('stopped');
  });
});
