import { arrive, type Arrived, letIn, NOTHING_ARRIVED, rowsOf } from './event-rows';

interface Row { id: string; status?: string }
const fresh = (id: string, status?: string): { isNew: boolean; row: Row } => ({ isNew: true, row: { id, ...(status && { status }) } });
const NOTHING: Arrived<Row> = NOTHING_ARRIVED;

describe('rows of the list', () => {
  it('new ones stand on top, newest first', () => {
    const arrived = arrive(NOTHING, [fresh('3'), fresh('4')], new Set(['1', '2']), false);

    expect(rowsOf(arrived, [[{ id: '2' }, { id: '1' }]]).map(({ id }) => id)).toEqual(['4', '3', '2', '1']);
  });

  it('while one reads they wait, and stay in order once they are let in', () => {
    const waiting = arrive(arrive(NOTHING, [fresh('2')], new Set(['1']), true), [fresh('3')], new Set(['1']), false);

    expect(waiting.waiting.map(({ id }) => id)).toEqual(['3', '2']);
    expect(rowsOf(waiting, [[{ id: '1' }]]).map(({ id }) => id)).toEqual(['1']);
    expect(rowsOf(letIn(waiting), [[{ id: '1' }]]).map(({ id }) => id)).toEqual(['3', '2', '1']);
  });

  it('none is shown twice: neither what the list has nor what was told before', () => {
    const arrived = arrive(arrive(NOTHING, [fresh('2')], new Set(['1']), false), [fresh('2'), fresh('1')], new Set(['1']), false);

    expect(rowsOf(arrived, [[{ id: '2' }, { id: '1' }], [{ id: '1' }]]).map(({ id }) => id)).toEqual(['2', '1']);
  });

  it('a change is shown where the event stands, and makes no row of its own', () => {
    const arrived = arrive(NOTHING, [{ isNew: false, row: { id: '1', status: 'delivered' } }, { isNew: false, row: { id: '9', status: 'dlq' } }], new Set(['1']), false);

    expect(rowsOf(arrived, [[{ id: '1', status: 'retrying' }]])).toEqual([{ id: '1', status: 'delivered' }]);
  });

  it('what is too much to keep is counted', () => {
    const news = Array.from({ length: 1_500 }, (_, i) => fresh(String(i)));
    const { waiting, notKept } = arrive(NOTHING, news, new Set(), true);

    expect([waiting.length, notKept, waiting[0]?.id]).toEqual([1_000, 500, '1499']);
  });
});
