import { type News, type Row, RowList } from './event-rows';

const row = (id: string, more: Partial<Row> = {}): Row => ({
  id,
  status: 'retrying',
  received_at: `2026-11-21T09:30:00.${id.padStart(3, '0')}Z`,
  attempt_count: 0,
  last_attempt: null,
  next_attempt_at: null,
  ...more,
});
const fresh = (id: string, more: Partial<Row> = {}): News<Row> => ({ isNew: true, row: row(id, more) });
const idsOf = (list: RowList<Row>): string[] => Array.from({ length: list.count }, (_, at) => list.at(at)?.id ?? '');

function listOf(...pages: string[][]): RowList<Row> {
  const list = new RowList<Row>(true);
  list.setPages(pages.map((ids) => ids.map((id) => row(id))));
  return list;
}

describe('rows of the list', () => {
  it('new rows are on top, newest first, even if they arrive late', () => {
    const list = listOf(['2', '1']);
    list.arrive([fresh('4')], false);
    list.arrive([fresh('3'), fresh('5')], false);

    expect(idsOf(list)).toEqual(['5', '4', '3', '2', '1']);
    expect([list.indexOf('5'), list.indexOf('1'), list.indexOf('9')]).toEqual([0, 4, -1]);
  });

  it('if changes add old events, the last one is on top', () => {
    const list = new RowList<Row>(false);
    list.setPages([[row('2')]]);
    list.arrive([fresh('7'), fresh('3')], false);

    expect(idsOf(list)).toEqual(['3', '7', '2']);
  });

  it('new rows wait while the user reads, and keep their order when they are shown', () => {
    const list = listOf(['1']);
    list.arrive([fresh('2')], true);
    list.arrive([fresh('3')], false);

    expect([list.waiting, idsOf(list)]).toEqual([2, ['1']]);
    list.letIn();
    expect([list.waiting, idsOf(list)]).toEqual([0, ['3', '2', '1']]);
  });

  it('no row is shown twice: neither from the list, nor from an earlier message, nor from a later page', () => {
    const list = listOf(['2', '1']);
    const first = [row('2'), row('1')];
    list.setPages([first]);
    list.arrive([fresh('3')], false);
    list.arrive([fresh('3'), fresh('1')], false);
    list.arrive([fresh('0')], true);
    list.setPages([first, [row('3'), row('1'), row('0')]]);

    expect(idsOf(list)).toEqual(['3', '2', '1', '0']);
    expect(list.waiting).toBe(0);
  });

  it('a change updates its row, adds none, and an attempt counts once', () => {
    const list = listOf(['1']);
    const attempt = {
      number: 1,
      status: 503,
      error: null,
      at: '2026-11-21T09:30:01.000Z',
      next_attempt_at: '2026-11-21T09:35:00.000Z',
    };
    for (let i = 0; i < 2; i += 1)
      list.arrive(
        [
          { isNew: false, row: row('1'), attempt },
          { isNew: false, row: row('9', { status: 'dlq' }) },
        ],
        false,
      );

    expect(idsOf(list)).toEqual(['1']);
    expect(list.at(0)).toMatchObject({
      status: 'retrying',
      attempt_count: 1,
      last_attempt: { status: 503 },
      next_attempt_at: attempt.next_attempt_at,
    });
    list.arrive(
      [
        {
          isNew: false,
          row: row('1', { status: 'delivered' }),
          attempt: { ...attempt, number: 2, status: 200, at: '2026-11-21T09:35:00.100Z', next_attempt_at: null },
        },
      ],
      false,
    );
    expect(list.at(0)).toMatchObject({
      status: 'delivered',
      attempt_count: 2,
      last_attempt: { status: 200 },
      next_attempt_at: null,
    });
  });

  it('rows beyond the maximum are counted, each once', () => {
    const list = listOf();
    const news = Array.from({ length: 1_500 }, (_, i) => fresh(String(i).padStart(4, '0')));
    list.arrive(news, true);
    list.arrive(news.slice(0, 100), true);

    expect([list.waiting, list.notKept, list.count]).toEqual([1_000, 500, 0]);
    expect(listOf(['3', '2'], ['1']).countBetween('2026-11-21T09:30:00.002Z', '2026-11-21T09:30:00.003Z')).toBe(2);
  });

  it('a long live list drops old rows, and returns the time from which to load them again', () => {
    const list = listOf(['0']);
    const news = Array.from({ length: 10_001 }, (_, i) => ({
      isNew: true,
      row: row(String(i + 1).padStart(5, '0'), { received_at: new Date(i).toISOString() }),
    }));

    expect(list.arrive(news, false)).toBe(new Date(8_000).toISOString());
    expect([list.count, list.at(0)?.id, list.at(1_999)?.id]).toEqual([2_000, '10001', '08002']);
    list.setPages([[row('08002'), row('08001'), row('08000')]]);
    expect(idsOf(list).slice(-3)).toEqual(['08002', '08001', '08000']);
  });
});
