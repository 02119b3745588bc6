import { readViews, type SavedView, VIEWS_MAX, withView } from './saved-views';

const many: SavedView[] = Array.from({ length: VIEWS_MAX }, (_, i) => ({ name: `view ${i}`, search: {} }));

describe('saved views', () => {
  it.each([
    [null, []],
    ['no JSON', []],
    ['{}', []],
    ['[null, 1, {"name":1,"search":{}}, {"name":"a"}]', []],
    [
      '[{"name":"broken","search":{"status":"dlq,nonsense","since":"-1h","stauts":"x"}}]',
      [{ name: 'broken', search: { status: 'dlq', since: '-1h' } }],
    ],
  ])('what a browser kept may be anything: %j', (stored, expected) => {
    expect(readViews(stored)).toEqual(expected);
  });

  it('a name is one view, and twenty are all', () => {
    expect(withView([{ name: 'a', search: {} }], { name: ' a ', search: { status: 'dlq' } })).toEqual([
      { name: 'a', search: { status: 'dlq' } },
    ]);
    expect(withView(many, { name: 'one more', search: {} })).toEqual(many);
    expect(withView(many, { name: 'view 3', search: { q: 'evt_1' } })[3]).toEqual({
      name: 'view 3',
      search: { q: 'evt_1' },
    });
    expect(withView([], { name: '  ', search: {} })).toEqual([]);
  });
});
