import { secretNames } from './secret-names.js';

it.each<[string, string[]]>([
  ['export default (event) => event', []],
  ['export default (event, { secrets }) => ({ ...event, token: secrets.CRM_TOKEN })', ['CRM_TOKEN']],
  ['secrets[\'A\'] + secrets["B"] + secrets[`C`]', ['A', 'B', 'C']],
  ['secrets?.A + secrets ?. [ "B" ] + secrets . C', ['A', 'B', 'C']],
  ['secrets\n  .A', ['A']],
  ['(event, context) => context.secrets.A', ['A']],
  ['`https://example.com/${secrets.A}/${ secrets.B }`', ['A', 'B']],
  ['secrets.A; secrets.A; secrets["A"]', ['A']],
  ['// needs secrets.A', ['A']],
  ['secrets.$odd + secrets["no name"] + secrets[""]', ['$odd', 'no name', '']],
  ['mysecrets.A + secretsOf.B + $secrets.C + secrets_.D', []],
  ['secrets[name] + secrets["half', []],
  ['secrets["a\' + secrets.B', ['B']],
  ['const { A } = secrets', []],
])('finds in %j the names %j', (code, names) => {
  expect(secretNames(code)).toEqual(names);
});

it('is linear for code of the maximum length', () => {
  const blanks = ' '.repeat(65_000);

  expect(secretNames(`secrets${blanks}?.${blanks}[${blanks}'A'${blanks}]`)).toEqual(['A']);
  expect(secretNames(`secrets${blanks}`.repeat(3))).toEqual([]);
});
