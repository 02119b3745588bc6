import { messageIdsIn } from './message-ids.js';

it.each<[string, string[]]>([
  ['<a@b.example>', ['<a@b.example>']],
  ['<a@b> <c@d>', ['<a@b>', '<c@d>']],
  ['<a@b><c@d>', ['<a@b>', '<c@d>']],
  ['<a@b>,<c@d>, <e@f>;', ['<a@b>', '<c@d>', '<e@f>']],
  ['(of Monday) <a@b>', ['<a@b>']],
  ['"Re" <a@b> of today', ['<a@b>']],
  ['"Ada <ada@x.y>" of Friday <a@b>', ['<a@b>']],
  ['<"a"@b>', ['<"a"@b>']],
  ['<a@b\t.example> <c d@e>', ['<a@b.example>', '<cd@e>']],
  ['<a@b <c@d>', ['<c@d>']],
  ['<>', []],
  ['a@b c@d,e', ['a@b', 'c@d', 'e']],
  ['', []],
])('the message ids of %j', (value, ids) => {
  expect(messageIdsIn(value)).toEqual(ids);
});

it('takes linear time', () => {
  expect(messageIdsIn('<'.repeat(1_000_000))).toEqual([]);
  expect(messageIdsIn('<a@b>'.repeat(200_000))).toHaveLength(200_000);
});
