import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import {
  contentOf,
  ownHeadersOf,
  readSubmittedMessage,
  type SubmittedMessage,
  writeSubmittedMessage,
} from './submitted-message.js';

const bytes = (...lines: string[]): Buffer => Buffer.from(`${lines.join('\r\n')}\r\n`);

function read(...lines: string[]): SubmittedMessage {
  const message = readSubmittedMessage(bytes(...lines));
  if ('fault' in message) throw new Error(message.fault);
  return message;
}

const faultOf = (raw: Buffer): string | null => {
  const message = readSubmittedMessage(raw);
  return 'fault' in message ? message.fault : null;
};

const HEAD = ['From: Anna <Anna@Shop.Example>', 'To: b@c.example', 'Subject: Hello'];

describe('readSubmittedMessage', () => {
  it('reads the fields that an email shows', () => {
    const message = read(
      'From: =?utf-8?Q?J=C3=B6rg?= =?utf-8?B?IE3DvGxsZXI=?= <Joerg@Shop.Example>',
      'Sender: office@shop.example',
      'To: "Doe, John" <john@c.example>, group: a@c.example, b@c.example;',
      'Cc: d@c.example (Dora)',
      'Reply-To: help@shop.example',
      'Subject: =?utf-8?Q?Gr=C3?= =?utf-8?Q?=BC=C3=9Fe?=',
      '  from us',
      'Message-ID: <1@shop.example>',
      'Date: Mon, 05 Jan 2026 10:00:00 +0000',
      'X-Tag: campaign=spring, kind=news',
      'X-Tag: welcome',
      'X-Idempotency-Key: order-1',
      '',
      'Text',
    );

    expect(message).toMatchObject({
      from: { name: 'Jörg Müller', address: 'Joerg@shop.example' },
      sender: 'office@shop.example',
      to: [
        { name: 'Doe, John', address: 'john@c.example' },
        { name: '', address: 'a@c.example' },
        { name: '', address: 'b@c.example' },
      ],
      cc: [{ name: 'Dora', address: 'd@c.example' }],
      replyTo: [{ name: '', address: 'help@shop.example' }],
      subject: 'Grüße  from us',
      messageId: '<1@shop.example>',
      hasDate: true,
      tags: [
        { name: 'campaign', value: 'spring' },
        { name: 'kind', value: 'news' },
        { name: 'tag', value: 'welcome' },
      ],
      idempotencyKey: 'order-1',
    });
  });

  it.each([
    ['Anna <Anna@Shop.Example>', { name: 'Anna', address: 'Anna@shop.example' }],
    ['"Anna, Shop" <Anna@Shop.Example>', { name: 'Anna, Shop', address: 'Anna@shop.example' }],
    ['Anna   of  Shop <Anna@Shop.Example>', { name: 'Anna of Shop', address: 'Anna@shop.example' }],
    ['Anna (of Shop) <Anna@Shop.Example>', { name: 'Anna', address: 'Anna@shop.example' }],
    ['Anna@B\xfccher.example', { name: '', address: 'Anna@xn--bcher-kva.example' }],
  ])('reads the author %s', (from, expected) => {
    expect(read(`From: ${from}`, '', 'Text').from).toEqual(expected);
  });

  it('reads obsolete syntax and comments in To, Cc and Reply-To', () => {
    const message = read(
      'From: Pete(A nice \\) chap) <pete@silly.test>',
      'To: A Group(Some people)',
      "     :Chris Jones <c@(Chris's host.)public.example>,",
      '  joe@example.org, John <jdoe@one.test> (my dear friend); (the end of the group)',
      'Cc: Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example',
      'Reply-To: "Joe & J. Harvey" <ddd @Org>',
      '',
      'Text',
    );

    expect(message).toMatchObject({
      from: { name: 'Pete', address: 'pete@silly.test' },
      to: [
        { name: 'Chris Jones', address: 'c@public.example' },
        { name: '', address: 'joe@example.org' },
        { name: 'John', address: 'jdoe@one.test' },
      ],
      cc: [
        { name: 'Mary Smith', address: 'mary@example.net' },
        { name: '', address: 'jdoe@test.example' },
      ],
      replyTo: [{ name: 'Joe & J. Harvey', address: 'ddd@Org' }],
    });
  });

  it.each(['pete(his account)@silly.test', '<@node.test:pete@silly.test>', 'a@b . test'])(
    'rejects a sender whose address %s has obsolete syntax or comments inside, because servers read it differently',
    (sender) => {
      expect(faultOf(bytes(`From: ${sender}`, '', 'x'))).toMatch(/^The From header must have exactly one/);
      expect(faultOf(bytes('From: a@b.example', `Sender: ${sender}`, '', 'x'))).toMatch(/^The Sender header must/);
    },
  );

  it.each([
    ['LF.LF', '\n.\n'],
    ['LF.CRLF', '\n.\r\n'],
    ['CRLF.LF', '\r\n.\n'],
    ['CR.CR', '\r.\r'],
    ['CRLF.CR', '\r\n.\r'],
    ['a bare LF in the header', ''],
  ])('rejects %s, which servers may read as the end of the message', (_name, end) => {
    const raw = bytes(...(end === '' ? ['From: a@b.example\nTo: c@d.example', '', 'x'] : [...HEAD, '', `x${end}y`]));

    expect(faultOf(raw)).toMatch(/ends in (LF|CR) alone/);
  });

  it.each<[string, string[], RegExp]>([
    ['no From header', ['To: b@c.example', '', 'x'], /no From header/],
    ['an empty From header', ['From: ', '', 'x'], /no From header/],
    ['two From headers', ['From: a@b.example', 'From: c@b.example', '', 'x'], /from occurs twice/],
    ['two authors', ['From: a@b.example, c@b.example', '', 'x'], /exactly one address/],
    ['an author that parsers read differently', ['From: a@b.example, <c@d.example>', '', 'x'], /exactly one address/],
    ['two senders', [...HEAD, 'Sender: a@b.example, c@b.example', '', 'x'], /Sender header/],
    ['two subjects', [...HEAD, 'Subject: Again', '', 'x'], /subject occurs twice/],
    ['two topics', [...HEAD, 'X-Unsubscribe-Topic: a', 'x-unsubscribe-topic: b', '', 'x'], /topic occurs twice/],
    ['text before the empty line', [...HEAD, 'Hello there', '', 'x'], /no header field/],
    ['a name with a space', [...HEAD, 'X-A : b', '', 'x'], /no header field/],
    ['a continuation first', [' From: a@b.example', '', 'x'], /no header field/],
    ['a line of spaces in the header', [...HEAD, '   ', 'x', '', 'x'], /no header field/],
    ['an instruction for SendGrid', [...HEAD, 'X-SMTPAPI: {}', '', 'x'], /instructs a relay/],
    ['an instruction for SES', [...HEAD, 'X-SES-Source-ARN: x', '', 'x'], /instructs a relay/],
    ['a NUL', [...HEAD, '', 'x\0y'], /NUL/],
    ['a line of 999 bytes', [...HEAD, '', 'x'.repeat(999)], /longer than 998 bytes/],
  ])('rejects %s', (_name, lines, expected) => {
    expect(faultOf(bytes(...lines))).toMatch(expected);
  });

  it('accepts a line of 998 bytes, a message without a body, and raw UTF-8 in the header', () => {
    expect(read(...HEAD, '', 'x'.repeat(998)).body.length).toBe(2 + 998 + 2);
    expect(read(...HEAD).body.toString()).toBe('\r\n');
    expect(read('From: Jörg <a@b.example>', 'Subject: Grüße', '', 'x')).toMatchObject({
      from: { name: 'Jörg' },
      subject: 'Grüße',
    });
  });
});

describe('an author outside ASCII', () => {
  it('is accepted as in the API, in NFC and with the domain in A-labels', () => {
    expect(read('From: Zoe\u0308 <zoe\u0308@b\u00fccher.example>', '', 'x').from).toEqual({
      name: 'Zoe\u0308',
      address: 'zo\u00eb@xn--bcher-kva.example',
    });
  });

  it('is refused with a full-width letter', () => {
    expect(faultOf(bytes('From: \uff41@shop.example', '', 'x'))).toMatch(/^From: The part before the "@"/);
  });
});

describe('writeSubmittedMessage', () => {
  it('keeps every other byte, and removes blind copies and control headers with their continuations', () => {
    const raw = bytes(
      'Received: from a\r\n\tby b',
      ...HEAD,
      'Bcc: x@y.example,',
      '\tz@y.example',
      'X-Tag: a=b',
      'X-Idempotency-Key: k',
      'X-Unsubscribe: true',
      'X-Unsubscribe-Topic: news',
      'Resent-Bcc: x@y.example',
      'x-FOLDED:  kept ',
      ' as it is\t',
      '',
      '..dots',
      '.',
      'Bcc: in the body',
    );
    const message = readSubmittedMessage(raw) as SubmittedMessage;

    expect(writeSubmittedMessage(message, {}).toString()).toBe(
      raw
        .toString()
        .replace(
          'Bcc: x@y.example,\r\n\tz@y.example\r\nX-Tag: a=b\r\nX-Idempotency-Key: k\r\nX-Unsubscribe: true\r\nX-Unsubscribe-Topic: news\r\nResent-Bcc: x@y.example\r\n',
          '',
        ),
    );
  });

  it("returns the client's bytes without a copy if nothing is added or removed", () => {
    const raw = bytes('Received: from a\r\n\tby b', ...HEAD, 'X-Team: \xe4', '', 'x', 'Bcc: in the body');

    expect(writeSubmittedMessage(readSubmittedMessage(raw) as SubmittedMessage, {})).toBe(raw);
  });

  it('adds the empty line after a header section without a body', () => {
    expect(writeSubmittedMessage(read(...HEAD), {}).toString()).toBe(bytes(...HEAD, '').toString());
  });

  it('adds fields on top, and replaces those with the same name', () => {
    const message = read('X-Team: old', ...HEAD, 'Message-ID: ', '', 'x');

    expect(writeSubmittedMessage(message, { 'Message-ID': '<1@b.example>', 'x-team': 'Grün' }).toString()).toBe(
      bytes('Message-ID: <1@b.example>', 'x-team: Grün', ...HEAD, '', 'x').toString(),
    );
  });
});

describe('ownHeadersOf', () => {
  it('returns headers that no other field of an email has', () => {
    expect(ownHeadersOf(read('Received: x', ...HEAD, 'X-Team: =?utf-8?Q?Gr=C3=BCn?=', 'X-Tag: a', '', 'x'))).toEqual({
      'x-team': 'Grün',
    });
  });

  it('reads each field a constant number of times', () => {
    let reads = 0;
    const fields = Array.from({ length: 1_000 }, (_, i) => ({
      get name() {
        reads += 1;
        return `x-${i}`;
      },
      text: `X-${i}: a`,
    }));

    expect(Object.keys(ownHeadersOf({ fields }))).toHaveLength(1_000);
    expect(reads).toBeLessThanOrEqual(10_000);
  });

  it('returns the headers that request an unsubscribe link', () => {
    expect(ownHeadersOf(read(...HEAD, 'X-Unsubscribe: true', 'X-Unsubscribe-Topic: news', '', 'x'))).toEqual({
      'x-unsubscribe': 'true',
      'x-unsubscribe-topic': 'news',
    });
  });
});

describe('contentOf', () => {
  const multipart = (boundary: string, text: string, ...more: string[]): SubmittedMessage =>
    read(
      ...HEAD,
      ...more,
      `Content-Type: multipart/mixed; boundary="${boundary}"`,
      '',
      `--${boundary}`,
      '',
      text,
      `--${boundary}--`,
    );

  it('is equal for a message that a library built again, and differs for another text', () => {
    const first = contentOf(multipart('--_NmP-1', 'Hello', 'Date: today', 'Message-ID: <1@a.example>'));

    expect(contentOf(multipart('--_NmP-2', 'Hello', 'Date: later', 'Message-ID: <2@a.example>'))).toEqual(first);
    expect(contentOf(multipart('--_NmP-1', 'Hello!', 'Date: today'))).not.toEqual(first);
  });

  it('leaves out boundaries in delimiter lines only', () => {
    expect(contentOf(multipart('abcd', 'abcd --abcd'))).toEqual(contentOf(multipart('efgh', 'abcd --abcd')));
    expect(contentOf(multipart('abcd', 'abcd'))).not.toEqual(contentOf(multipart('efgh', 'efgh')));
    expect(contentOf(multipart('abcd', '--abcde'))).not.toEqual(contentOf(multipart('abcd', '--abcdf')));
  });

  it('takes linear time for 50 boundaries that are almost everywhere', async () => {
    const almost = 'a'.repeat(69);
    const types = Array.from({ length: 50 }, (_, i) => `X-Type: x; boundary=${almost}${String.fromCharCode(48 + i)}`);
    const { fields } = read(...HEAD, ...types, '', 'x');
    const body = `\r\n--${almost}b\r\n${'a'.repeat(900)}`.repeat(2_000);

    const growth = await growthOf(body, (part) => contentOf({ fields, body: Buffer.from(part) }));

    expect(growth).toBeLessThan(LINEAR);
  });

  it('leaves out boundaries of four characters, and no shorter ones', () => {
    expect(contentOf(multipart('abcd', 'Hello'))).toEqual(contentOf(multipart('efgh', 'Hello')));
    expect(contentOf(multipart('abc', 'Hello'))).not.toEqual(contentOf(multipart('efg', 'Hello')));
  });

  it.each([
    ['one character', [...'abounadry-']],
    ['four characters', Array.from({ length: 60 }, (_, i) => `=${i}=${i}`.padEnd(4, '='))],
  ])('does not grow, whatever boundaries of %s a message has', (_name, boundaries) => {
    const types = boundaries.map((boundary) => `X-Type: x; boundary=${boundary}`);
    const message = read(...HEAD, ...types, '', 'boundary-'.repeat(100));
    const length = message.fields.reduce((sum, { text }) => sum + text.length + 2, message.body.length);

    expect(contentOf(message).length).toBeLessThanOrEqual(length);
  });
});
