import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { growthOf, LINEAR } from '../../../test/support/cpu-time.js';
import { type MailReport, readReport } from './reports.js';

const VECTORS = new URL('../../../test/vectors/bounces/', import.meta.url);
const read = (path: string): MailReport => readReport(readFileSync(new URL(path, VECTORS)), true);
const json = (path: string): unknown => JSON.parse(readFileSync(new URL(path, VECTORS), 'utf8'));
const described = (name: string): MailReport => read(`described/${name}.eml`);

/**
 * Returns one address for each recipient: an expected address if the recipient has one, otherwise the first address.
 */
function named(report: MailReport, outcome: string, expected: readonly string[]): string[] {
  const wanted = new Set(expected.map((address) => address.toLowerCase()));
  const those = report.recipients
    .filter((recipient) => recipient.outcome === outcome)
    .map(({ addresses }) => addresses.map((address) => address.toLowerCase()));
  return [
    ...new Set(those.map((addresses) => addresses.find((address) => wanted.has(address)) ?? addresses[0] ?? '')),
  ].sort();
}

const sorted = (addresses: readonly string[]): string[] => addresses.map((address) => address.toLowerCase()).sort();

/**
 * Samples in which the library `flufl.bounce` wrongly returns a quoted recipient, or returns one recipient in two
 * spellings.
 */
const OTHERWISE = new Set(['simple_14.txt', 'yale_01.txt']);
const BAUNSU: Readonly<Record<string, { address: string; isPermanent: boolean }>> = {
  'bounce_aol.txt': { address: 'mango3438kaskdmdfklas@aol.com', isPermanent: true },
  'bounce_att.txt': { address: 'mango3438kaskdmdfklas@att.net', isPermanent: false },
  'bounce_charter.txt': { address: 'mango3438kaskdmdfklas@charter.net', isPermanent: true },
  // Not permanent: QQ uses this text also for an address that gets too much mail.
  'bounce_cox.txt': { address: 'mango3438kaskdmdfklas@cox.com', isPermanent: false },
  'bounce_earthlink.txt': { address: 'mango3438kaskdmdfklas@earthlink.net', isPermanent: true },
  'bounce_exchange.txt': { address: 'mango3432dkl@skylight.com', isPermanent: true },
  'bounce_gmail.txt': { address: 'mango3432xlkdieldkl@gmail.com', isPermanent: true },
  'bounce_hotmail.txt': { address: 'mango3432xlkdieldkl@hotmail.com', isPermanent: true },
  'bounce_me.txt': { address: 'mango3438kaskdmdfklas@me.com', isPermanent: true },
  'bounce_postfix.txt': { address: 'mango-=#43@panda.com', isPermanent: true },
  'bounce_spam.txt': { address: 'dev@sender.com', isPermanent: false },
  'bounce_yahoo.txt': { address: 'mango3438kaskdmdfklas@yahoo.com', isPermanent: true },
};
const BOUNCES: Readonly<Record<string, string>> = { 'au-kddi': 'ada@ezweb.ne.jp', docomo: 'ada@docomo.ne.jp' };

describe('readReport', () => {
  const wrong: string[] = [];
  const expected = json('flufl/expected.json') as Record<string, { delayed: string[]; failed: string[] }>;
  for (const [name, { delayed, failed }] of Object.entries(expected)) {
    const report = read(`flufl/${name}`);
    const isRight =
      JSON.stringify([named(report, 'delayed', delayed), named(report, 'failed', failed)]) ===
      JSON.stringify([sorted(delayed), sorted(failed)]);
    if (!isRight) wrong.push(name);
  }

  it('finds the recipients that flufl.bounce finds in its own samples, failed or delayed', () => {
    expect(Object.keys(expected).length).toBeGreaterThan(110);
    expect(wrong.filter((name) => !OTHERWISE.has(name))).toEqual([]);
  });

  it.each(Object.entries(BAUNSU))(
    '%s: finds the recipient, and whether the address was rejected permanently',
    (name, { address, isPermanent }) => {
      expect(read(`baunsu/${name}`)).toMatchObject({
        kind: 'bounce',
        recipients: [{ addresses: [address], outcome: 'failed', isPermanent }],
      });
    },
  );

  const systems = Object.entries(json('systems.json') as Record<string, string>);
  it.each(systems.filter(([path]) => path.startsWith('described/')))('%s (%s): refused for good', (path) => {
    const name = path.slice('described/'.length, -'.eml'.length);

    expect(read(path)).toMatchObject({
      kind: 'bounce',
      recipients: [{ addresses: [BOUNCES[name] ?? 'ada@example.org'], outcome: 'failed', isPermanent: true }],
    });
  });

  it('parses the reports of at least 40 mail systems', () => {
    const right = systems.filter(([path]) => {
      const [folder, name = ''] = path.split('/');
      return (
        (folder !== 'flufl' || !wrong.includes(name)) &&
        read(path).kind === 'bounce' &&
        read(path).recipients.length > 0 ===
          (expected[name] === undefined || expected[name].failed.length + expected[name].delayed.length > 0)
      );
    });

    const outside = right.filter(([path]) => !path.startsWith('described/'));
    process.stdout.write(
      `bounce reports: ${right.length} of ${systems.length} mail systems right, ${outside.length} of them by samples from outside\n`,
    );
    expect(new Set(outside.map(([, system]) => system)).size).toBeGreaterThanOrEqual(40);
    expect(systems.filter((system) => !right.includes(system))).toEqual([]);
  });

  it('classifies delayed, relayed, expanded and delivered recipients, and rejects no address for them', () => {
    expect(described('sendmail-delay').recipients).toMatchObject([
      { outcome: 'delayed', status: '4.4.3', isPermanent: false },
    ]);
    expect(described('success').recipients.map(({ addresses, outcome }) => [addresses[0], outcome])).toEqual([
      ['ada@example.org', 'delivered'],
      ['list@example.org', 'expanded'],
      ['old@example.org', 'relayed'],
    ]);
  });

  it('a full mailbox, a quota or a rejected message does not reject an address permanently', () => {
    expect(described('full-mailbox').recipients).toMatchObject([
      { outcome: 'failed', status: '5.2.2', isPermanent: false },
    ]);
    for (const name of [
      'hotpop_01',
      'qmail_02',
      'qmail_06',
      'simple_07',
      'simple_09',
      'simple_42',
      'simple_45',
      'yahoo_02',
    ]) {
      expect([name, read(`flufl/${name}.txt`).recipients.map(({ isPermanent }) => isPermanent)]).toEqual([
        name,
        [false],
      ]);
    }
  });

  it.each<[string, string, string | null]>([
    ['192.5.1.1', 'Administrative prohibition', null],
    ['5.1.1.7', 'Administrative prohibition', null],
    ['2001:db8:550::5', 'Administrative prohibition', null],
    ['192.5.1.1', '5.2.2 Mailbox is full', '5.2.2'],
  ])("takes no code from the server's address in a bounce of Exim: [%s] %s", (address, said, status) => {
    const exim = `From: Mail Delivery System <Mailer-Daemon@exim.example.net>
Subject: Mail delivery failed: returning message to sender
Auto-Submitted: auto-replied

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ada@example.org
    host mx.example.org [${address}]
    SMTP error from remote mail server after RCPT TO:<ada@example.org>:
    550 ${said}
`;
    const withStatus = `Content-Type: message/delivery-status

Reporting-MTA: dns; exim.example.net

Final-Recipient: rfc822;ada@example.org
Action: failed
Status: 5.0.0
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; host [${address}] 550 ${said}
`;

    for (const [message, expected] of [
      [exim, status],
      [withStatus, status ?? '5.0.0'],
    ] as const)
      expect(readReport(Buffer.from(message), true)).toMatchObject({
        kind: 'bounce',
        recipients: [{ addresses: ['ada@example.org'], outcome: 'failed', status: expected, isPermanent: false }],
      });
  });

  it('recognizes complaints, their complainants unless these are hidden, and that "not spam" is none', () => {
    expect(described('arf-yahoo')).toMatchObject({
      kind: 'complaint',
      complaint: 'abuse',
      complainants: ['ada@example.org'],
    });
    expect(described('arf-fraud')).toMatchObject({
      kind: 'complaint',
      complaint: 'fraud',
      complainants: ['ada@example.org'],
    });
    expect(described('hotmail-jmrp')).toMatchObject({
      kind: 'complaint',
      complaint: 'abuse',
      complainants: ['ada@hotmail.example'],
    });
    expect([described('arf-not-spam').kind, described('arf-auth-failure').kind]).toEqual(['other', 'other']);
  });

  it.each(['out-of-office', 'precedence', 'x-autoreply', 'challenge', 'exchange', 'read-receipt'])(
    'an automatic reply is not a bounce: %s',
    (name) => {
      expect(described(`reply-${name}`)).toMatchObject({ kind: 'auto-reply', recipients: [] });
    },
  );

  it('a subject alone does not make an automatic reply, and quoted words of a bounce do not make a bounce', () => {
    expect(described('person-with-subject').kind).toBe('other');
    const quoted =
      'From: Ada <ada@example.org>\nSubject: Re: Undelivered Mail Returned to Sender\n\nWhy did you send me this?\n> <bob@example.org>: 550 5.1.1 User unknown\n> could not be delivered\n';
    expect(readReport(Buffer.from(quoted), false)).toMatchObject({ kind: 'other', recipients: [] });
    expect(read('baunsu/auto_earthlink.txt').kind).toBe('auto-reply');
  });

  it('finds the identifiers of the reported message', () => {
    const { about } = described('arf-yahoo');

    expect(about.returnPaths).toEqual(['b+00000001019abc001111222233334444555566660123456789abcdef']);
    expect(
      readReport(Buffer.from(`From: a@b.example\r\n\r\nReturn-Path: <b+r${'aab3'.repeat(14)}@bounce.example>`), true)
        .about.returnPaths,
    ).toEqual([`b+r${'aab3'.repeat(14)}`]);
    expect(about.messageIds).toEqual(['evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1@shop.example.com']);
    const signed =
      'From: MAILER-DAEMON@x.example\nSubject: failure notice\n\n<a@x.example>:\n550 no\n\n--- Below this line is a copy of the message.\n\nDKIM-Signature: v=1; a=rsa-sha256; bh=abc=;\n b=QUJD\n REVG==\nFrom: b@y.example\n';
    expect(
      readReport(Buffer.from(signed), true).about.signatures.some((signature) => signature.startsWith('QUJDREVG==')),
    ).toBe(true);
  });

  it('parses any 1 MB of hostile bytes', () => {
    const mb = 1_048_576;
    const filled = (text: string): string => text.repeat(Math.ceil(mb / text.length)).slice(0, mb);
    const head = 'From: MAILER-DAEMON@x.example\nSubject: failure notice\n';
    const nested = Array.from(
      { length: 500 },
      (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
    ).join('');
    const hostile = [
      filled('\0'),
      filled('<'),
      filled('@'),
      filled('a@'),
      filled('a'.repeat(63)),
      filled('\n'),
      filled('=\n'),
      filled('b='),
      filled(': '),
      filled(' '),
      filled('>'),
      filled('=?utf-8?q?'),
      `${head}\n${filled('a.')}`,
      `${head}\n${filled('<a@b.example>\n')}`,
      `${head}\n${filled('recipient: ')}`,
      `${head}\n${filled('delivery fail ')}`,
      `${head}Content-Type: text/html\n\n${filled('<br ')}`,
      `${head}Content-Type: message/delivery-status\n\n${filled('Final-Recipient: rfc822; a@b.example\n\n')}`,
      `${head}Content-Type: message/delivery-status\n\n${filled('Diagnostic-Code: smtp; 550 quota ')}`,
      `${head}Content-Type: multipart/mixed; boundary=x\n\n${filled('--x\n\n')}`,
      `${head}Content-Type: multipart/mixed; boundary="${filled('x')}"\n\n`,
      `${head}${filled('X-A: b\n c\n')}`,
      `${head}${nested}`,
      `${head}${filled('Content-Type: message/rfc822\n\n')}`,
      `${head}Content-Transfer-Encoding: base64\n\n${filled('A')}`,
      `${head}Content-Type: text/plain; charset=x-no-such\n\n${filled('ÿ')}`,
      `X-Failed-Recipients: ${filled('a@b.example,')}\n\nfailure`,
      `${head}\n${filled('b=QUJD ')}`,
      `${head}\n${filled('Message-ID:    <')}`,
      `${head}\n${filled('not listed in ')}`,
      `Subject: ${filled('(delay')}\n\n`,
    ];

    for (const text of hostile) {
      const { kind, recipients } = readReport(Buffer.from(text, 'latin1'), true);
      expect(['bounce', 'auto-reply', 'other']).toContain(kind);
      expect(recipients.length).toBeLessThanOrEqual(100);
    }
  });

  it.each([
    ['one line without an end', 'a'],
    ['lines that are not fields', 'a\n'],
    ['empty names', ':\n'],
    ['groups of fields without recipients', 'a: b\n\n'],
    ['recipients without an @', `Final-Recipient: rfc822;${'a'.repeat(960)}\n\n`],
  ])('scans %s in a status of one megabyte only once', async (_, part) => {
    const report = `Content-Type: message/delivery-status\n\n${part.repeat(Math.floor(1_048_576 / part.length))}`;
    const reportOf = (text: string): MailReport => readReport(Buffer.from(text, 'latin1'), true);

    expect(reportOf(report).kind).toBe('other');
    expect(await growthOf(report, reportOf)).toBeLessThan(LINEAR);
  });

  it('a report that is truncated anywhere, or has any byte changed, parses without an error', () => {
    for (const name of readdirSync(new URL('described/', VECTORS))) {
      const raw = readFileSync(new URL(`described/${name}`, VECTORS));
      for (let at = 0; at < raw.length; at += 37) {
        const changed = Buffer.from(raw);
        changed[at] = (at * 131) % 256;
        expect(readReport(raw.subarray(0, at), true).kind).toEqual(expect.any(String));
        expect(readReport(changed, false).kind).toEqual(expect.any(String));
      }
    }
  });
});
