import fc from 'fast-check';
import {
  canonicalDomain,
  isInternational,
  isRefused,
  parseMailbox,
  parseMailboxList,
  suppressionKey,
} from './addresses.js';

describe('parseMailbox', () => {
  it.each([
    ['ada@example.com', '', 'ada@example.com'],
    ['  ada@example.com ', '', 'ada@example.com'],
    ['<ada@example.com>', '', 'ada@example.com'],
    ['Ada <ada@example.com>', 'Ada', 'ada@example.com'],
    ['Ada<ada@example.com>', 'Ada', 'ada@example.com'],
    ['Ada B. Lovelace <ada@example.com>', 'Ada B. Lovelace', 'ada@example.com'],
    ['"Lovelace, Ada" <ada@example.com>', 'Lovelace, Ada', 'ada@example.com'],
    ['"Say \\"hi\\" \\\\o/" <ada@example.com>', 'Say "hi" \\o/', 'ada@example.com'],
    ['"ada@elsewhere.example" <ada@example.com>', 'ada@elsewhere.example', 'ada@example.com'],
    ['"<evil@elsewhere.example>" <ada@example.com>', '<evil@elsewhere.example>', 'ada@example.com'],
    ['Zoë Ångström <zoe@example.com>', 'Zoë Ångström', 'zoe@example.com'],
    ['山田太郎 <taro@example.jp>', '山田太郎', 'taro@example.jp'],
    ['דוד <david@example.co.il>', 'דוד', 'david@example.co.il'],
    ['The family 👨‍👩‍👧 <home@example.com>', 'The family 👨‍👩‍👧', 'home@example.com'],
    ["O'Neil & Sons! <o'neil@example.com>", "O'Neil & Sons!", "o'neil@example.com"],
    ['Ada@EXAMPLE.Com', '', 'Ada@example.com'],
    ['ada+news@sub.example.com', '', 'ada+news@sub.example.com'],
    ["!#$%&'*+/=?^_`{|}~-.x@example.com", '', "!#$%&'*+/=?^_`{|}~-.x@example.com"],
    ['ada@bücher.example', '', 'ada@xn--bcher-kva.example'],
    ['ada@BÜCHER.example', '', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', '', 'ada@xn--bcher-kva.example'],
    ['ada@bücher.xn--p1ai', '', 'ada@xn--bcher-kva.xn--p1ai'],
    ['ada@straße.example', '', 'ada@xn--strae-oqa.example'],
    ['ada@localhost', '', 'ada@localhost'],
    [`${'a'.repeat(64)}@example.com`, '', `${'a'.repeat(64)}@example.com`],
  ])('takes %s', (text, name, address) => {
    expect(parseMailbox(text)).toEqual({ name, address });
  });

  it.each([
    // Rejected: several addresses, or other text alongside the address.
    ['a@example.com, b@example.org', /Exactly one address/],
    ['a@example.com; b@example.org', /Exactly one address/],
    ['<a@example.com>, <b@example.org>', /Exactly one address/],
    ['<a@example.com> <b@example.org>', /Exactly one address/],
    ['a@example.com b@example.org', /exactly one "@"/],
    ['a@example.com <b@example.org>', /Exactly one address/],
    ['<a@example.com> trailing', /Exactly one address|exactly one/],
    ['Ada <a@example.com> x', /Exactly one address/],
    ['a@b@example.com', /exactly one "@"/],
    ['Ada, b@example.org <a@example.com>', /Exactly one address/],
    ['"a" b" <a@example.com>', /double quotes/],
    ['"open <a@example.com>', /double quotes/],
    ['a@example.com>', /no "<"/],
    ['<<a@example.com>>', /Exactly one address/],
    // Rejected: groups, comments, quoted local parts, domain literals and routes.
    ['undisclosed-recipients:;', /Exactly one|Groups/],
    ['team: a@example.com, b@example.org;', /Exactly one/],
    ['g: <a@example.com>', /double quotes/],
    ['g0:g1:g2:a@example.com', /Groups/],
    ['<@relay.example:a@example.com>', /Groups/],
    ['a@example.com(comment)', /Comments/],
    ['a(x)@example.com', /Comments/],
    ['(x) Ada <a@example.com>', /double quotes/],
    ['a@(b.example)example.com', /Comments/],
    ['"a b"@example.com', /Quoted/],
    ['"a"@example.com', /Quoted/],
    ['a\\@b@example.com', /Quoted/],
    ['a@[192.0.2.1]', /literals/],
    ['a@[IPv6:2001:db8::1]', /Groups|literals/],
    ['a@192.0.2.1', /domain/],
    ['a@0x7f.1', /domain/],
    ['a@2130706433', /domain/],
    ['', /exactly one "@"/],
    ['ada', /exactly one "@"/],
    ['@example.com', /before the "@"/],
    ['ada@', /domain/],
    ['.a@example.com', /single dots/],
    ['a.@example.com', /single dots/],
    ['a..b@example.com', /single dots/],
    [`${'a'.repeat(65)}@example.com`, /64/],
    ['ada@intranet', /needs a dot/],
    ['a@example..com', /domain/],
    ['a@.example.com', /domain/],
    ['a@example.com.', /domain/],
    ['a@-example.com', /domain/],
    ['a@exam_ple.com', /domain/],
    [`a@${'b'.repeat(64)}.com`, /domain/],
    [`${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(13)}.com`, /254/],
    ['a b@example.com', /Exactly one address/],
    ['a@exa mple.com', /Exactly one address/],
    ['a@example.com/x', /domain/],
    ['a@example.com%2ex', /domain/],
    ['zoë@example.com', /ASCII/],
    // Rejected: control characters, and characters that disguise a text as another one.
    ['a@example.com\r\nBcc: b@example.org', /line breaks/],
    ['Ada\n <a@example.com>', /line breaks/],
    ['a\0@example.com', /control/],
    ['a@example.com\u2028', /line breaks/],
    ['Ada\ud800 <a@example.com>', /control/],
    ['\u202emoc.elpmaxe@ada <a@example.com>', /invisible/],
    ['a\u200b@example.com', /invisible/],
    ['a@exa\ufeffmple.com', /invisible/],
    ['a＠example.com', /exactly one "@"/],
    ['a@example。com', /domain/],
    ['a@ｅxample.com', /domain/],
    ['a@exam\u00adple.com', /domain/],
    ['a@example\u212a.com', /domain/],
    ['a@℀.example', /domain/],
    ['a@ſample.com', /domain/],
    ['a@xn--a.example', /domain/],
    ['a@xn--.example', /domain/],
    ['a@a⒈com', /domain/],
    ['=?utf-8?q?b=40example.org=2C?= <a@example.com>', /encoded words/],
    ['"=?utf-8?B?eA==?=" <a@example.com>', /encoded words/],
    ['=?x?q?collab=40psres.net=3e=00?=foo@example.com', /encoded word/],
    [`${'x'.repeat(257)} <a@example.com>`, /256/],
    [`${'x'.repeat(2000)}@example.com`, /1024/],
  ])('refuses %j', (text, sentence) => {
    expect(parseMailbox(text)).toEqual({ refusal: expect.stringMatching(sentence) });
  });

  it.each([
    [
      'GHSA-mm7p-fcc7-pg87: a quoted local part that another parser reads as the recipient',
      '"attacker@evil.example x"@internal.example',
    ],
    ['GHSA-mm7p-fcc7-pg87: the same after a name', 'x <"attacker@evil.example x"@internal.example>'],
    ['GHSA-cc9r-2j5m-2m83: a domain that a comment or a literal ends early', 'a@evil.example(@internal.example'],
    ['GHSA-cc9r-2j5m-2m83: the same with white space at the dot', 'a@internal .example'],
    ['GHSA-wmmp-3585-3rmp: a domain that UTS 46 maps to another', 'a@inter\u00adnal.example'],
    ['GHSA-wmmp-3585-3rmp: full-width letters', 'a@ｉｎｔｅｒｎａｌ.example'],
    ['GHSA-2x7j-588g-ccc2: nested groups', `${'g:'.repeat(400)}a@example.com`],
    ['GHSA-rcmh-qjqh-p98v: a flood of angle brackets', `${'<'.repeat(900)}a@example.com>`],
    ['GHSA-rcmh-qjqh-p98v: a flood of quotes', `${'"'.repeat(900)} <a@example.com>`],
    ['GHSA-wqvq-jvpq-h66f: an object to read instead of an address', 'file:///etc/passwd'],
  ])('rejects the input of a security advisory: %s', (_advisory, text) => {
    expect(isRefused(parseMailbox(text))).toBe(true);
  });

  it('returns only addresses that it accepts unchanged', () => {
    const piece = fc.constantFrom(
      'a',
      'ada',
      '@',
      '.',
      '<',
      '>',
      '"',
      '\\',
      ',',
      ';',
      ':',
      '(',
      ')',
      ' ',
      'example',
      'com',
      'ü',
      'xn--',
      '＠',
      '。',
      '[',
      ']',
      '=?',
      '?=',
      '\r\n',
    );

    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
        (text) => {
          const parsed = parseMailbox(text);
          if (isRefused(parsed)) return;
          expect(parsed.address).toMatch(/^[\x21-\x7e]+@[a-z0-9.-]+$/);
          expect(parsed.address.split('@')).toHaveLength(2);
          expect(parseMailbox(parsed.address)).toEqual({ name: '', address: parsed.address });
        },
      ),
      { numRuns: 3000 },
    );
  });
});

describe('parseMailbox with international local parts', () => {
  it.each([
    ['zoë@example.com', 'zoë@example.com'],
    ['zoe\u0308@example.com', 'zoë@example.com'],
    ['用户@例え.jp', '用户@xn--r8jz45g.jp'],
    ['Ирина.Петрова+news@example.com', 'Ирина.Петрова+news@example.com'],
    ['अजय@example.in', 'अजय@example.in'],
    ['דוד@example.co.il', 'דוד@example.co.il'],
    ['📧@example.com', '📧@example.com'],
    [`${'ö'.repeat(32)}@example.com`, `${'ö'.repeat(32)}@example.com`],
  ])('takes %s', (text, address) => {
    expect(parseMailbox(text, 'international')).toEqual({ name: '', address });
    expect(isInternational(address)).toBe(true);
    expect(parseMailbox(address, 'international')).toEqual({ name: '', address });
  });

  it.each([
    ['a full-width @, which a server could map to a second one', 'victim＠evil.example@example.com', /compatibility/],
    ['full-width letters', 'ａｄｍｉｎ@example.com', /compatibility/],
    ['a ligature', 'oﬃce@example.com', /compatibility/],
    ['a full-width dot', 'a．b@example.com', /compatibility/],
    ['an ideographic space', 'a\u3000b@example.com', /Exactly one/],
    ['a no-break space', 'a\u00a0ö@example.com', /Exactly one/],
    ['a zero-width space', 'ö\u200b@example.com', /invisible/],
    ['a joiner', 'ö\u200d@example.com', /compatibility/],
    ['a soft hyphen', 'ö\u00ad@example.com', /compatibility/],
    ['a right-to-left override', 'ö\u202e@example.com', /invisible/],
    ['a C1 control', 'ö\u0085@example.com', /control/],
    ['a private-use character', 'ö\ue000@example.com', /compatibility/],
    ['an unassigned character', 'ö\u0378@example.com', /compatibility/],
    ['half of a surrogate pair', 'ö\ud800@example.com', /control/],
    ['what stands for bytes that are no UTF-8', 'ö\ufffd@example.com', /not valid UTF-8/],
    ['two dots', 'ö..ü@example.com', /single dots/],
    ['a header after it', 'ö@example.com\r\nBcc: b@example.org', /line breaks/],
    ['a quoted local part', '"ö ü"@example.com', /Quoted/],
    ['65 bytes', `${'ö'.repeat(32)}a@example.com`, /64 bytes/],
    ['an encoded word', '=?utf-8?q?=C3=B6?=ö@example.com', /encoded word/],
  ])('refuses %s', (_what, text, sentence) => {
    expect(parseMailbox(text, 'international')).toEqual({ refusal: expect.stringMatching(sentence) });
  });
});

describe('parseMailboxList', () => {
  it('parses one mailbox per entry, in order', () => {
    expect(parseMailboxList(['Ada <ada@example.com>', 'bob@example.com'])).toEqual([
      { name: 'Ada', address: 'ada@example.com' },
      { name: '', address: 'bob@example.com' },
    ]);
  });

  it('names the invalid entry, such as one with two addresses', () => {
    expect(parseMailboxList(['ada@example.com', 'b@example.com, c@example.com'])).toEqual({
      index: 1,
      refusal: expect.stringContaining('Exactly one address'),
    });
  });
});

describe('suppressionKey', () => {
  it.each([
    ['Ada.Lovelace+News@EXAMPLE.com', 'ada.lovelace+news@example.com'],
    ['ada@Bücher.example', 'ada@xn--bcher-kva.example'],
    ['ADA@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    // Only ASCII letters become lower case, because the SQL statements that look up suppressions change only ASCII
    // letters.
    ['ZOË@Example.com', 'zoË@example.com'],
    ['zoe\u0308@example.com', 'zoë@example.com'],
    // Addresses from bounce reports, which have not been validated.
    ['ada@not a host', 'ada@not a host'],
    ['no-address', 'no-address'],
  ])('of %s is %s', (address, key) => {
    expect(suppressionKey(address)).toBe(key);
  });
});

describe('canonicalDomain', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['a:25', null],
    ['a b', null],
    ['', null],
    ['127.1', null],
  ])('of %j is %j', (domain, canonical) => {
    expect(canonicalDomain(domain)).toBe(canonical);
  });
});
