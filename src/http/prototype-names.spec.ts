import { prototypeFaults } from './prototype-names.js';

it.each([
  ['at the top', '{"__proto__":1}', ['__proto__']],
  ['in an object', '{"metadata":{"__proto__":{"a":1}}}', ['metadata.__proto__']],
  ['in a list', '{"list":[{"a":1},{"__proto__":1}]}', ['list.1.__proto__']],
  ['in a body that is a list', '[{"__proto__":1}]', ['0.__proto__']],
  ['in a field that is stored as sent', '{"payload":{"__proto__":1}}', []],
  ['in a field that has only the name of such a field', '{"a":{"payload":{"__proto__":1}}}', ['a.payload.__proto__']],
  ['as a value', '{"a":"__proto__"}', []],
  ['other names of prototypes', '{"a":{"constructor":{"prototype":1},"prototype":1}}', []],
])('%s', (_, text, paths) => {
  const faults = prototypeFaults(JSON.parse(text) as object, new Set(['payload']));

  expect(faults.map(({ path }) => path)).toEqual(paths);
});

it('does not overflow the stack with a deeply nested body', () => {
  const deep = `{"a":${'['.repeat(200_000)}{"__proto__":1}${']'.repeat(200_000)}}`;

  expect(prototypeFaults(JSON.parse(deep) as object)).toHaveLength(1);
});

it('cuts the paths of a deeply nested body, which would be many times larger than the body', () => {
  const deep = `${'['.repeat(100_000)}${Array(60).fill('{"__proto__":1}').join()}${']'.repeat(100_000)}`;

  expect(JSON.stringify(prototypeFaults(JSON.parse(deep) as object)).length).toBeLessThan(20_000);
});

it('stops after fifty faults', () => {
  expect(prototypeFaults(JSON.parse(`[${Array(100).fill('{"__proto__":1}').join()}]`) as object)).toHaveLength(50);
});
