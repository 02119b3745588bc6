import { QueryClient } from '@tanstack/react-query';
import { inObject, inRow, withoutRow, withRow } from './cached-rows';
import { type Change, perform } from './perform';

const LIST = ['things', 'live', {}];
const ONE = ['thing', 'live', 'a'];
const page = (...rows: { id: string; status?: string }[]): object => ({ pages: [{ data: rows }], pageParams: [1] });

describe('perform', () => {
  let queries: QueryClient;
  const outcomes: string[] = [];
  const note = {
    onDone: () => void outcomes.push('done'),
    onFault: (fault: unknown) => void outcomes.push(String(fault)),
  };

  beforeEach(() => {
    outcomes.length = 0;
    queries = new QueryClient();
    queries.setQueryData(LIST, page({ id: 'a', status: 'on' }, { id: 'b', status: 'on' }));
    queries.setQueryData(ONE, { id: 'a', status: 'on' });
  });

  const turnOff = (send: Change['send']): Change => ({
    subject: 'a',
    views: [
      { queryKey: ['things', 'live'], change: inRow('a', { status: 'off' }) },
      { queryKey: ONE, change: inObject({ status: 'off' }) },
      { queryKey: ['absent'], change: inObject({ status: 'off' }) },
    ],
    send,
    done: 'Turned off',
  });

  it('shows the change in all cached data before the response, and ignores a second change meanwhile', async () => {
    let respond = (): void => undefined;
    let sent = 0;
    const change = turnOff(() => {
      sent += 1;
      return new Promise<void>((resolve) => (respond = resolve));
    });

    const running = perform(queries, change, note);
    await new Promise((resolve) => setTimeout(resolve, 0));
    const shown = [queries.getQueryData(LIST), queries.getQueryData(ONE)];
    await perform(queries, change, note);
    respond();
    await running;

    expect(shown).toEqual([page({ id: 'a', status: 'off' }, { id: 'b', status: 'on' }), { id: 'a', status: 'off' }]);
    expect(sent).toBe(1);
    expect(outcomes).toEqual(['done']);
    expect(queries.getQueryState(LIST)?.isInvalidated).toBe(true);
    expect(queries.getQueryData(['absent'])).toBeUndefined();
  });

  it('shows the state before, and reports the fault, if the API rejects the change', async () => {
    await perform(
      queries,
      turnOff(() => Promise.reject(new Error('no'))),
      note,
    );

    expect(queries.getQueryData(LIST)).toEqual(page({ id: 'a', status: 'on' }, { id: 'b', status: 'on' }));
    expect(queries.getQueryData(ONE)).toEqual({ id: 'a', status: 'on' });
    expect(outcomes).toEqual(['Error: no']);
  });

  it('keeps data that was fetched while a rejected change ran', async () => {
    const fetched = { id: 'a', status: 'gone' };
    await perform(
      queries,
      turnOff(async () => {
        queries.setQueryData(ONE, fetched);
        throw new Error('no');
      }),
      note,
    );

    expect(queries.getQueryData(ONE)).toEqual(fetched);
  });
});

describe('cached rows', () => {
  it.each<[name: string, change: (data: unknown) => unknown, ids: string[]]>([
    ['a row is removed', withoutRow('a'), ['b']],
    ['a row is removed by another field', withoutRow('on', 'status'), ['b']],
    ['a row is added in front', withRow({ id: 'c' }), ['c', 'a', 'b']],
    ['an unknown row changes nothing', inRow('x', { id: 'y' }), ['a', 'b']],
  ])('%s', (_name, change, ids) => {
    const { pages } = change(page({ id: 'a', status: 'on' }, { id: 'b' })) as { pages: { data: { id: string }[] }[] };

    expect(pages[0]?.data.map(({ id }) => id)).toEqual(ids);
  });
});
