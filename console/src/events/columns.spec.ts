import { type ColumnId, DEFAULT_COLUMNS, gridOf } from './columns';

describe('gridOf', () => {
  it.each<[columns: readonly ColumnId[], widths: Record<string, number>, grid: string]>([
    [['status', 'type'], {}, '2.5rem 8.25rem minmax(8rem, 1.2fr)'],
    [['status', 'type'], { status: 90, type: 300 }, '2.5rem 90px minmax(8rem, 1.2fr)'],
    [['type', 'received'], { type: 300 }, '2.5rem 300px minmax(9.5rem, 1fr)'],
    [['type', 'target', 'id'], { type: 300, id: 100, attempts: 70 }, '2.5rem 300px minmax(8rem, 1.4fr) 16.5rem'],
  ])('%j with the widths %j is %s', (columns, widths, grid) => {
    expect(gridOf(columns, widths)).toBe(grid);
  });

  it('by default, the event type and the target share the rest of the width', () => {
    expect(gridOf(DEFAULT_COLUMNS, {}).match(/minmax/g)).toHaveLength(2);
  });
});
