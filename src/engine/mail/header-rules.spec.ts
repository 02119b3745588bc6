import { mailHeaderFaults } from './header-rules.js';

const ONE_CLICK = {
  'List-Unsubscribe': '<https://example.com/u/1>, <mailto:u@example.com>',
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
};

describe('mailHeaderFaults', () => {
  it.each([
    [{}],
    [{ 'X-Entity-Ref-ID': '42' }],
    [{ 'In-Reply-To': '<a@example.com>', References: '<a@example.com> <b@example.com>' }],
    [{ 'X-Campaign': 'Grüße ☕' }],
    [{ 'List-Unsubscribe': '<mailto:u@example.com>' }],
    [ONE_CLICK],
    [{ 'auto-submitted': 'auto-generated', Precedence: 'bulk' }],
    [{ 'X-Tabbed': 'a\tb' }],
  ])('takes %j', (headers) => {
    expect(mailHeaderFaults(headers)).toEqual([]);
  });

  it.each([
    'From',
    'Sender',
    'To',
    'Cc',
    'Bcc',
    'Reply-To',
    'Subject',
    'Date',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'Content-Transfer-Encoding',
    'content-disposition',
    'DKIM-Signature',
    'ARC-Seal',
    'Authentication-Results',
    'Received',
    'RECEIVED-SPF',
    'Return-Path',
    'Resent-Bcc',
    'X-SES-SOURCE-ARN',
    'X-SMTPAPI',
    'X-Posthorn-Id',
    'Apparently-To',
    'bCc',
  ])('rejects %s, which addresses, authenticates, frames or directs the message', (name) => {
    expect(mailHeaderFaults({ [name]: 'x@example.com' })).toEqual([
      { path: `headers.${name}`, message: expect.stringContaining("can't be set") },
    ]);
  });

  it.each([
    ['Reply-To', 'reply_to'],
    ['from', 'from'],
    ['To', 'to'],
    ['CC', 'cc'],
    ['Bcc', 'bcc'],
    ['Subject', 'subject'],
  ])('names the field for %s', (name, field) => {
    const [fault] = mailHeaderFaults({ [name]: 'x@example.com' });

    expect(fault?.message).toMatch(new RegExp(` Use the field ${field} instead\\.$`));
  });

  it.each([
    ['X-A\r\nBcc', 'b@example.com', 'name consists'],
    ['X-A:', 'v', 'name consists'],
    ['X A', 'v', 'name consists'],
    ['', 'v', 'name consists'],
    ['Bcc ', 'v', 'name consists'],
    ['X-Ä', 'v', 'name consists'],
    ['__proto__', 'v', 'name consists'],
    ['X-A', 'v\r\nBcc: b@example.com', 'line breaks'],
    ['X-A', 'v\nw', 'line breaks'],
    ['X-A', 'v\rw', 'line breaks'],
    ['X-A', 'v\0', 'line breaks'],
    ['X-A', 'v\u2028w', 'line breaks'],
    ['X-A', 'v\u0085w', 'line breaks'],
    ['X-A', '', 'not empty'],
    ['X-A', 'x '.repeat(2100), 'at most 4096'],
    ['X-A', 'x'.repeat(901), 'folded'],
    ['X-A', 'é'.repeat(451), 'folded'],
    ['References', `<${'x'.repeat(500)} ${'y'.repeat(500)}@example.com>`, 'folded'],
    ['In-Reply-To', '<ü@example.com>', 'ASCII'],
    ['List-Id', 'Über <list.example.com>', 'ASCII'],
  ])('refuses %j: %j', (name, value, sentence) => {
    expect(mailHeaderFaults(Object.fromEntries([[name, value]]))).toEqual([
      { path: `headers.${name}`, message: expect.stringContaining(sentence) },
    ]);
  });

  it('rejects a repeated name in any case', () => {
    expect(mailHeaderFaults({ 'X-A': '1', 'x-a': '2' })).toEqual([
      { path: 'headers.x-a', message: expect.stringContaining('twice') },
    ]);
  });

  it('rejects too many headers, and too many bytes together', () => {
    expect(mailHeaderFaults(Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`X-${index}`, 'v'])))).toEqual(
      [{ path: 'headers', message: expect.stringContaining('64') }],
    );
    expect(
      mailHeaderFaults(Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`X-${index}`, 'x '.repeat(2000)]))),
    ).toEqual([{ path: 'headers', message: expect.stringContaining('32768') }]);
  });

  it.each([
    [{ ...ONE_CLICK, 'List-Unsubscribe-Post': 'yes' }, 'only value'],
    [{ 'List-Unsubscribe-Post': ONE_CLICK['List-Unsubscribe-Post'] }, 'goes with'],
    [{ ...ONE_CLICK, 'List-Unsubscribe': '<mailto:u@example.com>' }, 'goes with'],
  ])('rejects an incomplete one-click unsubscribe: %j', (headers, sentence) => {
    expect(mailHeaderFaults(headers)).toEqual([
      { path: 'headers.List-Unsubscribe-Post', message: expect.stringContaining(sentence) },
    ]);
  });
});
