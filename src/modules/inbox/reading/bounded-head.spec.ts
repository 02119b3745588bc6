import { verifiedHeadEnd } from './bounded-head.js';
import { verifySignatures } from './signatures.js';

const message = (field: string): Buffer => Buffer.from(`From: u@a.test\r\n${field}\r\n\r\nhello\r\n`);

describe('the end of the header section', () => {
  it.each([
    ['From: a\r\n\r\nb', 11],
    ['From: a\n\nb\r\n\r\n', 9],
    ['From: a\n\r\nb', 10],
    ['From: a\r\rb: c\r\n\r\nd', 17],
    ['\r\nFrom: a\r\n\r\n', 2],
    ['\nFrom: a', 1],
    ['From: a\r\nb', 10],
    ['', 0],
  ])('of %j is %d', (text, end) => {
    expect(verifiedHeadEnd(Buffer.from(text))).toBe(end);
  });
});

// Each of these took mailauth 7.1.0 6 to 25 s.
describe.each([
  ['100,000 folded lines', `X-Big: ${'a\r\n '.repeat(100_000)}z`, 'larger than 256 KB'],
  ['50,000 folded lines', `X-Big: ${'a\r\n '.repeat(50_000)}z`, 'more than 5000 lines'],
  ['60,000 empty folded lines', `X: a${'\r\n '.repeat(60_000)}b`, 'more than 1000 white-space'],
  ['200,000 bare CRs', `X: ${'\r'.repeat(200_000)}b`, 'more than 1000 white-space'],
  ['60,000 fields', 'b:\r\n'.repeat(60_000).trim(), 'more than'],
  ['fields after an empty line of bare CRs', `X: a\r\r${'b:\r\n'.repeat(60_000).trim()}`, 'more than 5000 lines'],
  [
    '200,000 spaces in a signature',
    `DKIM-Signature: v=1; h=from${' '.repeat(200_000)}:to`,
    'more than 1000 white-space characters in a row',
  ],
  ...['\r\n', '\n', '\r'].map((end): [string, string, string] => [
    `100 lines of 900 spaces that end in ${JSON.stringify(end)}`,
    `DKIM-Signature: v=1; h=from:${`${' '.repeat(900)}${end}`.repeat(100)} x; bh=x; b=x`,
    'more than 1000 white-space characters in a row',
  ]),
  ['a field of 300 KB', `X: ${'a'.repeat(300_000)}`, 'larger than 256 KB'],
])('a header with %s', (_, field, fault) => {
  it('is refused before mailauth reads it', async () => {
    await expect(verifySignatures(message(field), {})).rejects.toThrow(fault);
  });
});

it('the largest accepted header is verified', async () => {
  const field = `X: ${`${' '.repeat(48)}a\r\n`.repeat(4_990).trim()}`;

  expect(await verifySignatures(message(field), {})).toMatchObject({ from: ['u@a.test'], arc: 'none' });
});
