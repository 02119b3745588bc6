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
  ])('any stored text is accepted: %j', (stored, expected) => {
    expect(readViews(stored)).toEqual(expected);
  });

  it('names are unique, and the maximum is twenty views', () => {
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
