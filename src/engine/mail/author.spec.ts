import { authorIn } from './author.js';
import { fieldsOf, HEAD_BYTES_MAX } from './message-head.js';

const filler = `X-Long: ${'x'.repeat(900)}\r\n`.repeat(400);
const FROM = 'From: Ada <Ada@b.example>\r\n';

it.each([
  ['one From header', `${FROM}\r\nhi`, { kind: 'one', address: 'ada@b.example' }],
  ['a large header section', `${FROM}${filler}\r\nhi`, { kind: 'one', address: 'ada@b.example' }],
  ['a line in the body', `${FROM}${filler}\r\n${FROM}`, { kind: 'one', address: 'ada@b.example' }],
  ['a second From header', `${FROM}${FROM}\r\nhi`, { kind: 'several' }],
  ['a second From header behind 256 KB', `${FROM}${filler}From: ceo@c.example\r\n\r\nhi`, { kind: 'several' }],
  ['a second From header without a body', `${FROM}${filler}fRoM : ceo@c.example`, { kind: 'several' }],
  ['no From header', `${filler}\r\nhi`, { kind: 'missing' }],
])('%s', (_, raw, author) => {
  const bytes = Buffer.from(raw);

  expect(authorIn(bytes, fieldsOf(bytes.subarray(0, HEAD_BYTES_MAX)))).toEqual(author);
});
