import { marked } from './marked';

const ORDER = ['a', 'b', 'c', 'd'];

it.each<[string[], string, string | null, string[]]>([
  [[], 'b', null, ['b']],
  [['b'], 'b', null, []],
  [['a'], 'c', 'a', ['a', 'b', 'c']],
  [['d'], 'b', 'd', ['b', 'c', 'd']],
  [['a', 'b', 'c'], 'c', 'b', ['a']],
  [['a'], 'b', 'gone', ['a', 'b']],
])('from %j, a change of %s since %s selects %j', (selected, id, since, after) => {
  expect([...marked(new Set(selected), ORDER, id, since)].sort()).toEqual(after);
});
