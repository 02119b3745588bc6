import { unstorable } from './characters.js';

const NONE: ReadonlySet<string> = new Set();

it.each([
  ['U+0000', { name: 'a\0b' }, ['name']],
  ['an unpaired high surrogate', { name: 'a\ud800' }, ['name']],
  ['an unpaired low surrogate', { name: '\udc00a' }, ['name']],
  ['surrogates in the wrong order', { name: '\udc00\ud800' }, ['name']],
  ['a whole pair', { name: '😀' }, []],
  ['deep inside', { list: [{ a: 'fine' }, { b: '\0' }] }, ['list.1.b']],
  ['a nested field name', { config: { 'a\0': 1 } }, ['config']],
])('%s', (_, body, paths) => {
  expect(unstorable(body, NONE).map(({ path }) => path)).toEqual(paths);
});

it('skips fields that are stored as sent', () => {
  expect(unstorable({ payload: { a: '\0' }, name: 'x' }, new Set(['payload']))).toEqual([]);
});

it('stops after fifty faults', () => {
  expect(unstorable({ list: Array(1000).fill('\0') }, NONE)).toHaveLength(50);
});
