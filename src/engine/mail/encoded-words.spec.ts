import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { mailboxesIn } from './address-list.js';
import { decodeWords } from './encoded-words.js';

it.each([
  ['=?utf-8?Q?Gr=C3=BC=C3=9Fe?=', 'Grüße'],
  ['=?UTF-8?B?R3LDvMOfZQ==?= and =?iso-8859-1?q?=FC_x?=', 'Grüße and ü x'],
  // The bytes of one character are split between two words.
  ['=?utf-8?Q?=C3?= \t=?utf-8?Q?=BC?=', 'ü'],
  ['=?utf-8*de?Q?ja?=', 'ja'],
  ['a =?utf-8*b.c?Q?ja?= b', 'a ja b'],
  ['=?*de?Q?ja?=', '=?*de?Q?ja?='],
  // Some senders put spaces, raw UTF-8 or several padded base64 texts into one encoded word.
  ['=?utf-8?Q?a b?=', 'a b'],
  ['=?utf-8?Q?ü=C3=BC?=', 'üü'],
  ['=?utf-8?B?YQ==Yg==?=', 'ab'],
  ['=?no-charset?Q?=FC?=', 'ü'],
  ['=?utf-8?X?none?= plain', '=?utf-8?X?none?= plain'],
])('decodes %j', (value, text) => {
  expect(decodeWords(value)).toBe(text);
});

it.each<[string, [name: string, address: string][]]>([
  ['a@b.example', [['', 'a@b.example']]],
  [
    '"A \\"B\\", C" <a@b.example>, d@e.example',
    [
      ['A "B", C', 'a@b.example'],
      ['', 'd@e.example'],
    ],
  ],
  ['undisclosed-recipients:;', []],
  [
    'Team: a@b.example, B <b@b.example>; c@b.example',
    [
      ['', 'a@b.example'],
      ['B', 'b@b.example'],
      ['', 'c@b.example'],
    ],
  ],
  ['a@b.example (Anna (the first))', [['Anna (the first)', 'a@b.example']]],
  ['no address, <>, "unclosed', []],
])('lists the mailboxes of %j', (header, expected) => {
  expect(mailboxesIn(header).map(({ name, address }) => [name, address])).toEqual(expected);
});

it.each(['"', '(', '<', 'a@b.example,', '=?utf-8?Q?', '=?utf-8?Q?a?= ', '=?a', '\\'])(
  'takes linear time for a header that repeats %s',
  async (part) => {
    expect(await growthOf(part.repeat(50_000), mailboxesIn)).toBeLessThan(LINEAR);
    expect(await growthOf(part.repeat(50_000), (text) => decodeWords(text))).toBeLessThan(LINEAR);
  },
);
