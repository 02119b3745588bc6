import { cell, headOf, linesOf } from './export-format';

const EVENT = {
  id: 'evt_1',
  event_type: '=HYPERLINK("http://x")',
  endpoint: null,
  status: 'dlq' as const,
  destination: 'dst_1',
  message_id: null,
  received_at: '2026-11-21T09:30:00.000Z',
  attempt_count: 3,
  last_attempt: { status: 503, error: null, at: '2026-11-21T09:31:00.000Z' },
  next_attempt_at: null,
};

describe('exported events', () => {
  it.each([
    ['=1+1', '"\'=1+1"'],
    ['+1', '"\'+1"'],
    ['-1', '"\'-1"'],
    ['@SUM(A1)', '"\'@SUM(A1)"'],
    ['\t=1', '"\'\t=1"'],
    ['\r=1', '"\'\r=1"'],
    ['a=1', 'a=1'],
    ['a"b', '"a""b"'],
    ['a,b', '"a,b"'],
    ['a\nb', '"a\nb"'],
    ['', ''],
    [null, ''],
    [-1, '-1'],
  ])('%j is the cell %s', (value, expected) => {
    expect(cell(value)).toBe(expected);
  });

  it('CSV has a header, one row per event, and no formulas', () => {
    expect(headOf('csv').trim().split(',')).toHaveLength(12);
    expect(linesOf('csv', [EVENT])).toBe(
      'evt_1,"\'=HYPERLINK(""http://x"")",dlq,,dst_1,,2026-11-21T09:30:00.000Z,3,503,,2026-11-21T09:31:00.000Z,\r\n',
    );
  });

  it('JSON lines equal the events of the API', () => {
    expect(headOf('jsonl')).toBe('');
    expect(
      linesOf('jsonl', [EVENT, EVENT])
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([EVENT, EVENT]);
  });
});
