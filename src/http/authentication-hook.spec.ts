import { parseBearer } from './authentication-hook.js';

it.each([
  ['Bearer ek_live_1', 'ek_live_1'],
  ['bearer   ek_live_1 ', 'ek_live_1'],
  ['BEARER ek_live_1', 'ek_live_1'],
  [undefined, null],
  ['', null],
  ['Bearer', null],
  ['Bearer ', null],
  ['Bearer    ', null],
  ['Bearerek_live_1', null],
  ['Basic YTpi', null],
  ['ek_live_1', null],
  [`Bearer ${'x'.repeat(600)}`, null],
])('%j holds the key %j', (header, key) => {
  expect(parseBearer(header)).toBe(key);
});
