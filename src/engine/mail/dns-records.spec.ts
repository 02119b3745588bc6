import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import {
  type DnsAnswer,
  type DnsRecord,
  type DomainKind,
  foreignMx,
  implicitMx,
  judge,
  type ObservedRecords,
  plainText,
  type PlatformNames,
  type RecordRole,
  recordsOf,
} from './dns-records.js';

const KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA1'.repeat(8);
const OTHER_KEY = 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA2'.repeat(8);
const PLATFORM: PlatformNames = {
  domain: 'posthorn.example',
  ingestHost: 'posthorn.example',
  mailHost: 'mx.posthorn.example',
  dkim: [
    { selector: 'ph1', publicKey: KEY },
    { selector: 'ph2', publicKey: OTHER_KEY },
  ],
};
const HOST = 'mail.customer.example';
const TOKEN = 'a'.repeat(40);

const found = <T>(...records: T[]): DnsAnswer<T> => ({ found: records });
const UNANSWERED = { unanswered: 'ESERVFAIL' };

function wanted(role: RecordRole, kind: DomainKind = 'email', platform = PLATFORM): DnsRecord {
  const record = recordsOf({ host: HOST, kind, token: TOKEN }, platform).find((each) => each.record === role);
  if (!record) throw new Error(`No record ${role}.`);
  return record;
}

const verdictOf = (
  role: RecordRole,
  observedRecords: ObservedRecords,
  kind?: DomainKind,
  platform = PLATFORM,
): string => judge(wanted(role, kind, platform), observedRecords, platform.dkim).verdict;
const errorOf = (role: RecordRole, observedRecords: ObservedRecords, kind?: DomainKind): string | null =>
  judge(wanted(role, kind), observedRecords, PLATFORM.dkim).error;

describe('recordsOf', () => {
  const lines = (kind: DomainKind, platform = PLATFORM): string[] =>
    recordsOf({ host: HOST, kind, token: TOKEN }, platform).map(
      ({ record, type, name, value, priority, required }) =>
        `${record} ${name} ${type} ${priority === null ? '' : `${priority} `}${value}${required ? '' : ' (advice)'}`,
    );

  it('a webhook domain publishes the ownership record and a CNAME', () => {
    expect(lines('webhook')).toEqual([
      `ownership _posthorn.${HOST} TXT posthorn-verification=${TOKEN}`,
      `cname ${HOST} CNAME posthorn.example`,
    ]);
  });

  it('a send-only domain publishes the ownership record and two keys, and should publish its return path and DMARC', () => {
    expect(lines('email-send')).toEqual([
      `ownership _posthorn.${HOST} TXT posthorn-verification=${TOKEN}`,
      `dkim ph1._domainkey.${HOST} CNAME ph1._domainkey.posthorn.example`,
      `dkim ph2._domainkey.${HOST} CNAME ph2._domainkey.posthorn.example`,
      `mail_from bounce.${HOST} MX 10 mx.posthorn.example (advice)`,
      `spf bounce.${HOST} TXT v=spf1 include:spf.posthorn.example ~all (advice)`,
      `dmarc _dmarc.${HOST} TXT v=DMARC1; p=none; (advice)`,
    ]);
  });

  it('a receiving domain also publishes an MX', () => {
    expect(lines('email').filter((line) => !lines('email-send').includes(line))).toEqual([
      `mx ${HOST} MX 10 mx.posthorn.example`,
    ]);
  });

  it('without a platform domain, the keys themselves are published, and there is no return path', () => {
    const platform = { ...PLATFORM, domain: null, ingestHost: 'hooks.example.net', mailHost: 'hooks.example.net' };

    expect(lines('email-send', platform)).toEqual([
      `ownership _posthorn.${HOST} TXT posthorn-verification=${TOKEN}`,
      `dkim ph1._domainkey.${HOST} TXT v=DKIM1; k=rsa; p=${KEY}`,
      `dkim ph2._domainkey.${HOST} TXT v=DKIM1; k=rsa; p=${OTHER_KEY}`,
      `dmarc _dmarc.${HOST} TXT v=DMARC1; p=none; (advice)`,
    ]);
  });
});

describe('the ownership record', () => {
  const proof = `posthorn-verification=${TOKEN}`;

  it.each<[string, string, DnsAnswer<string>]>([
    ['is right as given', 'right', found(proof)],
    ['is right among others', 'right', found('google-site-verification=x', proof)],
    ['is right with superfluous quotes', 'right', found(`"${proof}"`)],
    ['is right with a semicolon after the quotes', 'right', found(`"${proof}";`)],
    ['is right in upper case, with spaces and a semicolon', 'right', found(` ${proof.toUpperCase()} ;`)],
    ['is missing without any record', 'missing', found()],
    ['is wrong with another token', 'wrong', found(`posthorn-verification=${'b'.repeat(40)}`)],
    ['is wrong when truncated', 'wrong', found(proof.slice(0, -1))],
    ['is wrong with additional text', 'wrong', found(`${proof}0`)],
    ['is unknown without an answer', 'unanswered', UNANSWERED],
  ])('%s', (_what, verdict, txt) => {
    expect(verdictOf('ownership', { txt })).toBe(verdict);
  });

  it('describes the observed record', () => {
    expect(errorOf('ownership', { txt: found(`posthorn-verification=${'b'.repeat(40)}`) })).toContain('b'.repeat(40));
    expect(errorOf('ownership', { txt: found('something else') })).toBe(
      `The TXT records at _posthorn.${HOST} are something else: add one with ${proof}.`,
    );
  });
});

describe('a key', () => {
  const target = 'ph1._domainkey.posthorn.example';
  const text = `v=DKIM1; k=rsa; p=${KEY}`;
  const none = found<string>();

  it.each<[string, string, ObservedRecords]>([
    ['is right by its CNAME', 'right', { cname: found(target), txt: found(text) }],
    [
      'is right by its CNAME in any case, with a dot, even if the target does not exist yet',
      'right',
      { cname: found('PH1._DomainKey.Posthorn.Example.'), txt: none },
    ],
    ['is right by its CNAME while the TXT query is not answered', 'right', { cname: found(target), txt: UNANSWERED }],
    ["is right flattened to the text with Posthorn's key", 'right', { cname: none, txt: found(text) }],
    [
      'is right flattened with other spaces, tags and a semicolon',
      'right',
      { cname: none, txt: found(`k=rsa;t=s; p=${KEY.slice(0, 200)} ${KEY.slice(200)};`) },
    ],
    [
      "is right behind another CNAME that ends at Posthorn's key",
      'right',
      { cname: found('dkim.elsewhere.example'), txt: found(text) },
    ],
    ['is wrong flattened to another key', 'wrong', { cname: none, txt: found(`v=DKIM1; k=rsa; p=${OTHER_KEY}`) }],
    ['is wrong flattened to a revoked key', 'wrong', { cname: none, txt: found('v=DKIM1; p=') }],
    ['is wrong with several key records', 'wrong', { cname: none, txt: found(text, `v=DKIM1; k=rsa; p=${OTHER_KEY}`) }],
    [
      "is wrong with several key records behind Posthorn's CNAME",
      'wrong',
      { cname: found(target), txt: found(text, text) },
    ],
    ['is wrong with a CNAME to another host', 'wrong', { cname: found('s1.sendgrid.example'), txt: none }],
    [
      'is wrong with a CNAME to the other selector',
      'wrong',
      { cname: found('ph2._domainkey.posthorn.example'), txt: none },
    ],
    ['is missing without any record', 'missing', { cname: none, txt: none }],
    ['is missing if the text is not a key', 'missing', { cname: none, txt: found('hello') }],
    ['is unknown without an answer', 'unanswered', { cname: UNANSWERED, txt: UNANSWERED }],
  ])('%s', (_what, verdict, seen) => {
    expect(verdictOf('dkim', seen)).toBe(verdict);
  });

  it.each<[string, string, ObservedRecords]>([
    ['right', 'right', { txt: found(text) }],
    [
      'quoted in strings, which verifiers do not join',
      'wrong',
      { txt: found(`"${text.slice(0, 250)}" "${text.slice(250)}"`) },
    ],
    ['with escaped semicolons', 'wrong', { txt: found(text.replaceAll(';', '\\;')) }],
    ['another key', 'wrong', { txt: found(`v=DKIM1; p=${OTHER_KEY}`) }],
    ['the key twice', 'wrong', { txt: found(`${text}; p=${KEY}`) }],
    ['the name of the tag in upper case', 'wrong', { txt: found(`v=DKIM1; k=rsa; P=${KEY}`) }],
    ['another version', 'wrong', { txt: found(`v=DKIM2; k=rsa; p=${KEY}`) }],
    ['a version that is not first', 'wrong', { txt: found(`k=rsa; v=DKIM1; p=${KEY}`) }],
    ['another algorithm', 'wrong', { txt: found(`v=DKIM1; k=ed25519; p=${KEY}`) }],
    ['only sha1', 'wrong', { txt: found(`v=DKIM1; h=sha1; p=${KEY}`) }],
    ['sha1 and sha256', 'right', { txt: found(`v=DKIM1; h=sha1:sha256; p=${KEY}`) }],
    ['another service', 'wrong', { txt: found(`v=DKIM1; s=tlsrpt; p=${KEY}`) }],
    ['email and another service', 'right', { txt: found(`v=DKIM1; s=tlsrpt:email; t=y; n=note; p=${KEY};`) }],
    ['nothing', 'missing', { txt: none }],
    ['no answer', 'unanswered', { txt: UNANSWERED }],
  ])('as a TXT record, without a platform domain: %s', (_what, verdict, seen) => {
    expect(verdictOf('dkim', seen, 'email-send', { ...PLATFORM, domain: null })).toBe(verdict);
  });

  it('with the key twice is wrong because of the repeated tag, and with two keys because of the first one', () => {
    const seen = (txt: string): ObservedRecords => ({ cname: found<string>(), txt: found(txt) });

    expect(errorOf('dkim', seen(`${text}; p=${KEY}`))).toContain('has the tag p= twice');
    expect(errorOf('dkim', seen(`v=DKIM1; p=${OTHER_KEY}; p=${KEY}`))).toContain('another key');
  });

  it.each<[string, string]>([
    ['right', `v=DKIM1; k=ed25519; p=${KEY}`],
    ['wrong', `v=DKIM1; p=${KEY}`],
    ['wrong', `v=DKIM1; k=rsa; p=${KEY}`],
  ])('of an Ed25519 key needs its type: %s, %s', (verdict, seen) => {
    const own = [{ selector: 'phe1', publicKey: KEY, type: 'ed25519', required: true } as const];
    const domain = { host: HOST, kind: 'email-send', token: TOKEN } as const;
    const [, record] = recordsOf(domain, PLATFORM, { hasPlatformKeys: false, own });

    expect(record).toMatchObject({ name: `phe1._domainkey.${HOST}`, value: `v=DKIM1; k=ed25519; p=${KEY}` });
    expect(judge(record as DnsRecord, { txt: found(seen) }, own).verdict).toBe(verdict);
  });
});

describe('an MX', () => {
  const ours = { exchange: 'mx.posthorn.example', priority: 10 };
  const theirs = { exchange: 'aspmx.l.google.example', priority: 5 };

  it.each<[string, string, ObservedRecords]>([
    ['is right alone', 'right', { mx: found(ours) }],
    [
      'is right in any case, with a dot and any preference',
      'right',
      { mx: found({ exchange: 'MX.Posthorn.Example.', priority: 0 }) },
    ],
    ['is right before others', 'right', { mx: found(ours, { ...theirs, priority: 20 }) }],
    ['is wrong beside an MX of equal preference', 'wrong', { mx: found(ours, { ...theirs, priority: 10 }) }],
    ['is wrong after others', 'wrong', { mx: found(ours, theirs) }],
    ['is wrong elsewhere', 'wrong', { mx: found(theirs) }],
    ['is wrong as a null MX', 'wrong', { mx: found({ exchange: '', priority: 0 }) }],
    ['is missing without any record', 'missing', { mx: found() }],
    ['is unknown without an answer', 'unanswered', { mx: UNANSWERED }],
  ])('%s', (_what, verdict, seen) => {
    expect(verdictOf('mx', seen)).toBe(verdict);
    expect(verdictOf('mail_from', seen)).toBe(verdict);
  });

  it("is a conflict if it points elsewhere, and not if it is Posthorn's or a null MX", () => {
    expect(
      foreignMx(
        [ours, theirs, { exchange: '', priority: 0 }, { exchange: 'MX.posthorn.example.', priority: 1 }],
        'mx.posthorn.example',
      ),
    ).toEqual([theirs]);
  });
});

describe('implicitMx', () => {
  it.each<[string, string[], string[], boolean]>([
    ['no address', [], ['192.0.2.1'], false],
    ["Posthorn's addresses", ['192.0.2.1'], ['192.0.2.1', '2001:db8::1'], false],
    ["one of Posthorn's addresses and another one", ['192.0.2.1', '192.0.2.2'], ['192.0.2.1'], true],
    ['addresses while those of Posthorn are unknown', ['192.0.2.1'], [], true],
  ])('a domain with %s', (_what, addresses, ours, isForeign) => {
    expect(implicitMx(HOST, addresses, ours)).toEqual(isForeign ? [{ exchange: HOST, priority: 0 }] : []);
  });
});

describe('a CNAME of a webhook domain', () => {
  const at = (
    cname: ObservedRecords['cname'],
    addresses: ObservedRecords['addresses'],
    ourAddresses: ObservedRecords['ourAddresses'] = found('192.0.2.1', '2001:db8::1'),
  ): ObservedRecords => ({ cname, addresses, ourAddresses });

  it.each<[string, string, ObservedRecords]>([
    ['is right', 'right', at(found('posthorn.example'), found('192.0.2.1'))],
    ["is right at an apex with Posthorn's addresses", 'right', at(found(), found('192.0.2.1'))],
    ["is wrong with a foreign address among Posthorn's", 'wrong', at(found(), found('192.0.2.1', '198.51.100.1'))],
    ['is wrong with another target', 'wrong', at(found('elsewhere.example'), found('198.51.100.1'))],
    ['is missing without any record', 'missing', at(found(), found())],
    ['is unknown without an answer', 'unanswered', at(UNANSWERED, UNANSWERED)],
    ["is unknown while Posthorn's addresses are unknown", 'unanswered', at(found(), found('192.0.2.1'), UNANSWERED)],
    ['is unknown if it is missing and its addresses are not answered', 'unanswered', at(found(), UNANSWERED)],
  ])('%s', (_what, verdict, seen) => {
    expect(verdictOf('cname', seen, 'webhook')).toBe(verdict);
  });
});

describe('recommended records', () => {
  it.each<[string, string, RecordRole, DnsAnswer<string>]>([
    ['SPF as given', 'right', 'spf', found('v=spf1 include:spf.posthorn.example ~all')],
    [
      'SPF with further entries',
      'right',
      'spf',
      found('v=spf1 ip4:192.0.2.0/24 +include:SPF.posthorn.example. -all', 'unrelated'),
    ],
    ['SPF without us', 'wrong', 'spf', found('v=spf1 include:elsewhere.example -all')],
    [
      "SPF with a name that only starts like Posthorn's",
      'wrong',
      'spf',
      found('v=spf1 include:spf.posthorn.example.evil.example -all'),
    ],
    ['two of SPF', 'wrong', 'spf', found('v=spf1 include:spf.posthorn.example ~all', 'v=spf1 -all')],
    ['no SPF among the texts', 'missing', 'spf', found('v=spf10 x', 'hello')],
    ...(
      [
        'v=spf1 ip4:192.0.2.1/24 ip6:2001:db8::/32 a mx a:h.example/24//64 include:spf.posthorn.example ~all',
        'v=spf1  include:spf.posthorn.example  ?all',
        'v=spf1 include:spf.posthorn.example redirect=_spf.example exp=%{i}.x.example x-note=any',
        'v=spf1 exists:%{i}._spf.%{d2}.example include:spf.posthorn.example -ALL',
        'v=spf1 include:spf.posthorn.example ',
      ] as const
    ).map((text): [string, string, RecordRole, DnsAnswer<string>] => [text, 'right', 'spf', found(text)]),
    ...(
      [
        'v=spf1 -all include:spf.posthorn.example',
        'v=spf1 -include:spf.posthorn.example ~all',
        'v=spf1 include:spf.posthorn.example ip4:192.0.2.999 ~all',
        'v=spf1 include:spf.posthorn.example ip4:192.0.2.0/33 ~all',
        'v=spf1 include:spf.posthorn.example ip6:192.0.2.1 ~all',
        'v=spf1 include:spf.posthorn.example include: ~all',
        'v=spf1 include:spf.posthorn.example ipv4:192.0.2.1 ~all',
        'v=spf1 include:spf.posthorn.example 192.0.2.1 ~all',
        'v=spf1 include:spf.posthorn.example redirect=a.example redirect=b.example',
        'v=spf1 include:spf.posthorn.example +redirect=a.example',
        'v=spf1 include:spf.posthorn.example all. ,',
        'v=spf1 include:spf.posthorn.example, include:b.example ~all',
        `v=spf1 include:spf.posthorn.example ${'a:h.example '.repeat(10)}~all`,
        '"v=spf1 include:spf.posthorn.example ~all"',
        ' v=spf1 include:spf.posthorn.example',
        'spf: v=spf1 include:spf.posthorn.example ~all',
      ] as const
    ).map((text): [string, string, RecordRole, DnsAnswer<string>] => [text, 'wrong', 'spf', found(text)]),
    ...(
      [
        'v=DMARC1; p=none',
        'v=DMARC1;p=quarantine;sp=none;np=reject;pct=100;;',
        'v = DMARC1 ; p = Reject ; fo=1:d:s ; unknown=x ; adkim=nonsense',
        'v=DMARC1; rua=mailto:a@b.example; p=none',
      ] as const
    ).map((text): [string, string, RecordRole, DnsAnswer<string>] => [text, 'right', 'dmarc', found(text)]),
    ...(
      [
        'v=DMARC1; p=nonsense',
        'v=DMARC1; p=',
        'v=DMARC1; p=none,quarantine',
        'v=DMARC1',
        'v=DMARC1; rua=mailto:a@b.example',
        'v=DMARC1; p=none; sp=nonsense',
        'v=DMARC1; p=none; np=maybe',
        'v=DMARC1; p=none; p=reject',
        'v=DMARC1; v=DMARC1; p=none',
        'v=DMARC1; p:none',
        'v=DMARC1 p=none',
        'v=dmarc1; p=none',
        'v=DMARC2; p=none',
        'p=none; v=DMARC1',
        'p=reject',
        '"v=DMARC1; p=none"',
        'v=DMARC1\\; p=none',
        '\ufeffv=DMARC1; p=none',
      ] as const
    ).map((text): [string, string, RecordRole, DnsAnswer<string>] => [text, 'wrong', 'dmarc', found(text)]),
    ['DMARC with any policy', 'right', 'dmarc', found('v=DMARC1; p=reject; rua=mailto:a@b.example')],
    ['two of DMARC', 'wrong', 'dmarc', found('v=DMARC1; p=none', 'v=DMARC1; p=none')],
    ['no DMARC', 'missing', 'dmarc', found('hello')],
    ['no answer for DMARC', 'unanswered', 'dmarc', UNANSWERED],
  ])('%s is %s', (_what, verdict, role, txt) => {
    expect(verdictOf(role, { txt })).toBe(verdict);
  });
});

describe('any content of a zone', () => {
  const ROLES: readonly RecordRole[] = ['ownership', 'dkim', 'mail_from', 'spf', 'mx', 'dmarc'];
  const texts = fc.array(unicodeText({ maxLength: 400 }), { maxLength: 8 });
  const answers = fc.oneof(
    texts.map((found) => ({ found })),
    fc.constant({ unanswered: 'ETIMEOUT' }),
  );

  it('is judged with a message of limited length without control characters, unless it is right', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ROLES), answers, answers, (role, txt, cname) => {
        const mx = 'found' in txt ? { found: txt.found.map((exchange, priority) => ({ exchange, priority })) } : txt;
        const { verdict, error } = judge(wanted(role), { txt, cname, mx }, PLATFORM.dkim);
        expect(error === null).toBe(verdict === 'right');
        expect(error ?? '').toMatch(/^[^\p{Cc}]{0,1500}$/u);
      }),
    );
  });

  it('never counts as an answer when there was none', () => {
    for (const role of ROLES)
      expect(verdictOf(role, { txt: UNANSWERED, cname: UNANSWERED, mx: UNANSWERED })).toBe('unanswered');
  });

  it('plainText is idempotent', () => {
    fc.assert(
      fc.property(fc.string(), (text) =>
        expect(plainText(plainText(`"${text}";`))).toBe(plainText(plainText(plainText(`"${text}";`)))),
      ),
    );
  });
});
