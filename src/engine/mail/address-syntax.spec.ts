import { mailboxesByGrammar } from './address-syntax.js';

/** Returns `name|address` for each mailbox. */
const read = (header: string): string[] | null =>
  mailboxesByGrammar(header)?.map(({ name, address }) => `${name}|${address}`) ?? null;

describe('mailboxesByGrammar', () => {
  it.each<[string, string, string[]]>([
    ['A.1.1', 'John Doe <jdoe@machine.example>', ['John Doe|jdoe@machine.example']],
    ['A.1.2', '"Joe Q. Public" <john.q.public@example.com>', ['Joe Q. Public|john.q.public@example.com']],
    [
      'A.1.2',
      'Mary Smith <mary@x.test>, jdoe@example.org, Who? <one@y.test>',
      ['Mary Smith|mary@x.test', '|jdoe@example.org', 'Who?|one@y.test'],
    ],
    [
      'A.1.2',
      '<boss@nil.test>, "Giant; \\"Big\\" Box" <sysservices@example.net>',
      ['|boss@nil.test', 'Giant; "Big" Box|sysservices@example.net'],
    ],
    ['A.1.3', 'Pete <pete@silly.example>', ['Pete|pete@silly.example']],
    [
      'A.1.3',
      'A Group:Ed Jones <c@a.test>,joe@where.test,John <jdoe@one.test>;',
      ['Ed Jones|c@a.test', '|joe@where.test', 'John|jdoe@one.test'],
    ],
    ['A.1.3', 'Undisclosed recipients:;', []],
    ['A.5', 'Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>', ['Pete|pete@silly.test']],
    [
      'A.5',
      "A Group(Some people)\r\n     :Chris Jones <c@(Chris's host.)public.example>,\r\n         joe@example.org,\r\n  John <jdoe@one.test> (my dear friend); (the end of the group)",
      ['Chris Jones|c@public.example', '|joe@example.org', 'John|jdoe@one.test'],
    ],
    ['A.5', '(Empty list)(start)Hidden recipients  :(nobody(that I know))  ;', []],
    ['A.6.1', 'Joe Q. Public <john.q.public@example.com>', ['Joe Q. Public|john.q.public@example.com']],
    [
      'A.6.1',
      'Mary Smith <@node.test:mary@example.net>, , jdoe@test  . example',
      ['Mary Smith|mary@example.net', '|jdoe@test.example'],
    ],
    ['A.6.3', 'John Doe <jdoe@machine(comment).  example>', ['John Doe|jdoe@machine.example']],
    ['A.6.3', 'Mary Smith\t<mary@example.net>', ['Mary Smith|mary@example.net']],
  ])('reads the example of RFC 5322, appendix %s: %s', (_appendix, header, mailboxes) => {
    expect(read(header)).toEqual(mailboxes);
  });

  it.each<[string, string[]]>([
    ['', []],
    [' , (nobody) ,', []],
    ['"Joe & J. Harvey" <ddd @Org>', ['Joe & J. Harvey|ddd@Org']],
    ['jdoe@test   . example', ['|jdoe@test.example']],
    ['<@a.example,,@b.example(x) , @[192.0.2.1]: ada . l @c.example>', ['|ada.l@c.example']],
    ['a@b.example (Anna (the \\)first))', ['Anna (the )first)|a@b.example']],
    ['(Ada) a@b.example, (Bob)b(not)@(this)c . (or this) example', ['Ada|a@b.example', 'Bob|b@c.example']],
    ['<a@b.example> (Ada)', ['Ada|a@b.example']],
    ['"a b"@c.example, "a"@c.example, ""@c.example', ['|"a b"@c.example', '|a@c.example', '|""@c.example']],
    ['"a\\"\\\\b".c@d.example, "a..b"@d.example', ['|"a\\"\\\\b.c"@d.example', '|"a..b"@d.example']],
    ['ada@[ 192.0.2.1 ], <ada@[IPv6:::1]>', ['|ada@[192.0.2.1]', '|ada@[IPv6:::1]']],
    ['"a@evil.example" <b@c.example>', ['a@evil.example|b@c.example']],
    ['b@c.example (a@evil.example, <x@y.example>)', ['a@evil.example, <x@y.example>|b@c.example']],
    ['=?utf-8?Q?Gr=C3=BC?= =?utf-8?Q?=C3=9Fe?= <a@b.example>', ['Grüße|a@b.example']],
    ['Zoë <zoë@exämple.example>, 山田 <taro@例え.example>', ['Zoë|zoë@exämple.example', '山田|taro@例え.example']],
  ])('reads %j', (header, mailboxes) => {
    expect(read(header)).toEqual(mailboxes);
  });

  it.each([
    'Ada',
    'a@',
    '@b.example',
    'a@b.example c@d.example',
    'a@b@c.example',
    'a..b@c.example',
    '.a@b.example',
    'Ada <>',
    'Ada <a@b.example',
    'Ada <a@b.example> Lovelace',
    '<a@b.example',
    '"Ada <a@b.example>',
    'a@b.example (Ada',
    'a@b.example)',
    'a@b.example \\',
    'Group: a@b.example',
    'Group: Inner: a@b.example;;',
    ': a@b.example;',
    'a@b.example; c@d.example',
    'a@[b',
    'a@[b[c]',
    '<@a.example b@c.example>',
    '=?utf-8?Q?a?=@b.example',
    'a@=?utf-8?Q?b.example?=',
  ])('returns null for the invalid %j', (header) => {
    expect(read(header)).toBeNull();
  });

  it.each([
    ['(', ''],
    ['(', ')'],
    ['(a) ', ''],
    ['a@(', ')'],
    ['"', ''],
    ['"\\', ''],
    ['<', ''],
    ['<@', ':'],
    ['a:', ';'],
    ['a.', ''],
    ['a@b.', ''],
    ['a ', ''],
    ['\\', ''],
    ['[', ']'],
    ['a@b.example,', ''],
    [',', ''],
  ])('reads 1 MB of %j … %j in at most 12 accesses per character', (open, close) => {
    const repeated = Math.floor(1_000_000 / (open.length + close.length));
    const whole = `${open.repeat(repeated)}${close.repeat(repeated)}`;
    let work = 0;
    const counting = {
      length: whole.length,
      charAt: (at: number): string => {
        work += 1;
        return whole.charAt(at);
      },
      slice: (from = 0, to = whole.length): string => {
        work += to - from;
        return whole.slice(from, to);
      },
    };

    mailboxesByGrammar(counting);

    expect(work).toBeLessThan(12 * whole.length);
  });
});
