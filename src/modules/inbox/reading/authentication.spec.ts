import { spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { growthOf, LINEAR } from '../../../../test/support/cpu-time.js';
import { FixedRecords, type RecordsByName } from '../../../../test/support/fixed-records.js';
import { hasPythonModules, hasTool } from '../../../../test/support/optional-tools.js';
import { authenticate } from './authentication.js';
import { verifySignatures } from './signatures.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';
const hasDkimpy = hasTool(
  { skipped: 'the test with dkimpy', tool: 'Python with dkimpy', install: 'set POSTHORN_TEST_PYTHON, as .ci/run does' },
  () => hasPythonModules(PYTHON, 'dkim', 'dns'),
);

async function signed(from: string, domains: readonly string[], headers: Record<string, string> = {}): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const message = { from, to: 'a@in.example', subject: 'Order', text: 'Where is it?\n', headers };
  let raw = (await transport.sendMail(message)).message as Buffer;
  for (const domainName of domains) {
    raw = (
      await transport.sendMail({
        envelope: { from: 'x@y.example', to: 'a@in.example' },
        raw,
        dkim: { domainName, keySelector: 's', privateKey: PEM },
      })
    ).message as Buffer;
  }
  return raw;
}

function check(
  raw: Buffer,
  dns: RecordsByName,
  { mailFrom = 'bounce@other.example', clientIp = '192.0.2.1' } = {},
  records = new FixedRecords(dns),
) {
  return authenticate(
    { environmentId: 1, raw, clientIp, helo: 'mail.other.example', mailFrom, ownName: 'mx.in.example' },
    records,
    (bytes, keys) => verifySignatures(bytes, keys).catch(({ message }: Error) => ({ fault: message })),
  );
}

const key = (domain: string): RecordsByName => ({ [`TXT s._domainkey.${domain}`]: [KEY] });
const SIGNATURE = /DKIM-Signature:(?:.*\r\n)(?:[ \t].*\r\n)*/;
const dmarc = (domain: string, tags: string): RecordsByName => ({ [`TXT _dmarc.${domain}`]: [`v=DMARC1; ${tags}`] });

describe('the authentication of a message', () => {
  it.each<[string, string, string[], string, string]>([
    ['its own domain', 'ada@b.example', ['b.example'], 'p=reject', 'pass'],
    ['a subdomain, relaxed', 'ada@sub.b.example', ['b.example'], 'p=reject', 'pass'],
    ['a parent domain, relaxed', 'ada@b.example', ['mail.b.example'], 'p=reject', 'pass'],
    ['a subdomain, strict', 'ada@sub.b.example', ['b.example'], 'p=reject; adkim=s; aspf=s', 'fail'],
    ['its own domain, strict', 'ada@b.example', ['b.example'], 'p=quarantine; adkim=s', 'pass'],
    ['a stranger', 'ada@b.example', ['stranger.example'], 'p=reject', 'fail'],
    ['a domain with the same ending', 'ada@b.example', ['notb.example'], 'p=reject', 'fail'],
    [
      'several domains, including its own',
      'ada@b.example',
      ['list.example', 'b.example', 'stranger.example'],
      'p=reject; adkim=s',
      'pass',
    ],
    ['nobody', 'ada@b.example', [], 'p=reject', 'fail'],
  ])('signed by %s: DMARC', async (_who, from, domains, tags, expected) => {
    const dns = { ...Object.assign({}, ...domains.map(key)), ...dmarc('b.example', tags) } as RecordsByName;

    const verdicts = await check(await signed(from, domains), dns);

    expect([verdicts.dmarc, verdicts.dmarcPolicy]).toEqual([expected, /p=(\w+)/.exec(tags)?.[1]]);
    expect(verdicts.dkim).toBe(domains.length === 0 ? 'none' : 'pass');
  });

  it('SPF applies to the envelope, and aligns by its domain', async () => {
    const raw = await signed('ada@b.example', []);
    const dns = {
      ...dmarc('b.example', 'p=reject'),
      'TXT mail.b.example': ['v=spf1 ip4:192.0.2.0/24 -all'],
      'TXT other.example': ['v=spf1 ip4:192.0.2.1 -all'],
    };

    const [own, strangers, wrong] = [
      await check(raw, dns, { mailFrom: 'x@mail.b.example' }),
      await check(raw, dns),
      await check(raw, dns, { mailFrom: 'x@mail.b.example', clientIp: '198.51.100.1' }),
    ];

    expect([own.spf, own.dmarc, strangers.spf, strangers.dmarc, wrong.spf, wrong.dmarc]).toEqual([
      'pass',
      'pass',
      'pass',
      'fail',
      'fail',
      'fail',
    ]);
  });

  it('an internationalised domain is the same in either form', async () => {
    const host = 'xn--mnchen-3ya.example';
    const message = Buffer.from(
      'From: ada@m\u00fcnchen.example\r\nTo: a@in.example\r\nSubject: Order\r\n\r\nWhere is it?\r\n',
    );
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message: raw } = await transport.sendMail({
      envelope: { from: 'x@y.example', to: 'a@in.example' },
      raw: message,
      dkim: { domainName: host, keySelector: 's', privateKey: PEM },
    });

    const verdicts = await check(raw as Buffer, { ...key(host), ...dmarc(host, 'p=reject; adkim=s') });

    expect([verdicts.dkim, verdicts.dmarc]).toEqual(['pass', 'pass']);
  });

  it('without a DMARC record the verdict is none, whatever else passes', async () => {
    const verdicts = await check(await signed('ada@b.example', ['b.example']), key('b.example'));

    expect(verdicts).toMatchObject({ dkim: 'pass', dmarc: 'none', dmarcPolicy: null });
  });

  it('a message with a changed body has the DKIM verdict fail (RFC 8601, section 2.7.1)', async () => {
    const raw = await signed('ada@b.example', ['b.example']);

    const verdicts = await check(Buffer.from(raw.toString('latin1').replace('Where is it', 'Here it is'), 'latin1'), {
      ...key('b.example'),
      ...dmarc('b.example', 'p=reject'),
    });

    expect([verdicts.dkim, verdicts.dmarc]).toEqual(['fail', 'fail']);
  });

  it.each<[string, (signature: string) => string, string]>([
    ['a changed signature', (signature) => signature.replace(/ b=([^;]{8})/, ' b=AAAAAAAA'), 'fail'],
    ['a changed body hash', (signature) => signature.replace(/bh=.{8}/, 'bh=AAAAAAAA'), 'fail'],
    ['an unknown algorithm', (signature) => signature.replace('a=rsa-sha256', 'a=rsa-md5'), 'neutral'],
    ['an algorithm that RFC 8301 forbids', (signature) => signature.replace('a=rsa-sha256', 'a=rsa-sha1'), 'fail'],
    ['a From that is not signed', (signature) => signature.replace(/h=from:/, 'h='), 'neutral'],
    ['no selector', (signature) => signature.replace('s=s;', ''), 'neutral'],
  ])('a signature with %s: DKIM is %s', async (_what, change, expected) => {
    const raw = await signed('ada@b.example', ['b.example']);
    const [signature = ''] = SIGNATURE.exec(raw.toString('latin1')) ?? [];
    const changed = Buffer.from(raw.toString('latin1').replace(signature, change(signature)), 'latin1');

    const verdicts = await check(changed, { ...key('b.example'), ...dmarc('b.example', 'p=reject') });

    expect(changed.equals(raw)).toBe(false);
    expect([verdicts.dkim, verdicts.dmarc]).toEqual([expected, 'fail']);
  });

  it('several From headers have no verdict', async () => {
    const raw = await signed('ada@b.example', ['b.example']);

    const verdicts = await check(Buffer.concat([Buffer.from('From: boss@bank.example\r\n'), raw]), {
      ...key('b.example'),
      ...dmarc('b.example', 'p=reject'),
      ...dmarc('bank.example', 'p=reject'),
    });

    expect(verdicts.dmarc).toBe('permerror');
  });

  it('an overlong domain is treated as missing, and is not converted to A-labels', async () => {
    const long = Array.from({ length: 140_000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000))).join(
      '',
    );
    const verdictOf = async (name: string): Promise<string> => {
      const { dmarc: verdict } = await authenticate(
        {
          environmentId: 1,
          raw: Buffer.from('From: nobody'),
          clientIp: '192.0.2.1',
          helo: 'mail.other.example',
          mailFrom: '',
          ownName: 'mx.in.example',
        },
        new FixedRecords(dmarc('b.example', 'p=reject')),
        async () => ({ dkim: [], arc: 'none', from: [`ada@${name}.example`, 'ada@b.example'], fromFields: 1 }),
      );
      return verdict;
    };

    expect(await verdictOf(long)).toBe('permerror');
    expect(await growthOf(long, verdictOf)).toBeLessThan(LINEAR);
  });

  it('silent name servers cost verdicts, never the message', async () => {
    const silent = {
      'TXT s._domainkey.b.example': 'silent',
      'TXT _dmarc.b.example': 'silent',
      'TXT other.example': 'silent',
    } as const;

    const verdicts = await check(await signed('ada@b.example', ['b.example']), silent);

    expect(verdicts).toMatchObject({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', dmarcPolicy: null });
  });

  describe("a temporary DNS error (RFC 7489, section 6.6.2: the policy can't be applied)", () => {
    it.each<
      [
        string,
        { domains: string[]; silent: string[]; from?: string; mailFrom?: string; dns?: RecordsByName; tags?: string },
        Record<string, unknown>,
      ]
    >([
      [
        'for the key of the aligned signature',
        { domains: ['b.example'], silent: ['TXT s._domainkey.b.example'] },
        { dkim: 'temperror', dmarc: 'temperror', dmarcPolicy: 'reject' },
      ],
      [
        'for the key of a subdomain, relaxed',
        { domains: ['mail.b.example'], silent: ['TXT s._domainkey.mail.b.example'] },
        { dmarc: 'temperror' },
      ],
      [
        'for the key of a subdomain, strict: it would not be aligned',
        { domains: ['mail.b.example'], silent: ['TXT s._domainkey.mail.b.example'], tags: 'p=reject; adkim=s' },
        { dkim: 'temperror', dmarc: 'fail' },
      ],
      [
        'for the key of a stranger: it would not be aligned either',
        { domains: ['stranger.example'], silent: ['TXT s._domainkey.stranger.example'] },
        { dkim: 'temperror', dmarc: 'fail' },
      ],
      [
        'for one key, while another aligned signature is valid',
        { domains: ['mail.b.example', 'b.example'], silent: ['TXT s._domainkey.mail.b.example'] },
        { dkim: 'pass', dmarc: 'pass' },
      ],
      [
        "for one key, while only a stranger's signature is valid",
        { domains: ['b.example', 'list.example'], silent: ['TXT s._domainkey.b.example'] },
        { dkim: 'pass', dmarc: 'temperror' },
      ],
      [
        "for the aligned sender's SPF record",
        { domains: [], silent: ['TXT b.example'], mailFrom: 'x@b.example' },
        { spf: 'temperror', dmarc: 'temperror', dmarcPolicy: 'reject' },
      ],
      [
        'for a record that SPF includes',
        {
          domains: [],
          silent: ['TXT in.b.example'],
          mailFrom: 'x@b.example',
          dns: { 'TXT b.example': ['v=spf1 include:in.b.example -all'] },
        },
        { spf: 'temperror', dmarc: 'temperror' },
      ],
      [
        'for the addresses of a host in the SPF record',
        {
          domains: [],
          silent: ['A mx.b.example', 'AAAA mx.b.example'],
          mailFrom: 'x@b.example',
          dns: { 'TXT b.example': ['v=spf1 mx -all'], 'MX b.example': ['10 mx.b.example'] },
        },
        { spf: 'temperror', dmarc: 'temperror' },
      ],
      [
        'for the MX in the SPF record',
        {
          domains: [],
          silent: ['MX b.example'],
          mailFrom: 'x@b.example',
          dns: { 'TXT b.example': ['v=spf1 mx -all'] },
        },
        { spf: 'temperror', dmarc: 'temperror' },
      ],
      [
        "for a stranger's SPF record",
        { domains: [], silent: ['TXT other.example'] },
        { spf: 'temperror', dmarc: 'fail' },
      ],
      [
        'for SPF, while the signature is valid',
        { domains: ['b.example'], silent: ['TXT b.example'], mailFrom: 'x@b.example' },
        { spf: 'temperror', dkim: 'pass', dmarc: 'pass' },
      ],
      [
        'for the DMARC record',
        { domains: ['b.example'], silent: ['TXT _dmarc.b.example'] },
        { dkim: 'pass', dmarc: 'temperror', dmarcPolicy: null },
      ],
      [
        'for the record of the organizational domain',
        { domains: ['sub.b.example'], from: 'ada@sub.b.example', silent: ['TXT _dmarc.b.example'] },
        { dkim: 'pass', dmarc: 'temperror', dmarcPolicy: null },
      ],
      [
        'not for a key that does not exist',
        { domains: ['b.example'], silent: [], dns: { 'TXT s._domainkey.b.example': [] } },
        { dkim: 'neutral', dmarc: 'fail', dmarcPolicy: 'reject' },
      ],
    ])(
      '%s',
      async (_what, { domains, silent, from = 'ada@b.example', mailFrom, dns = {}, tags = 'p=reject' }, expected) => {
        const records = {
          ...Object.assign({}, ...domains.map(key)),
          ...dmarc('b.example', tags),
          ...dns,
          ...Object.fromEntries(silent.map((name) => [name, 'silent'])),
        } as RecordsByName;

        expect(
          await check(await signed(from, domains), records, mailFrom === undefined ? {} : { mailFrom }),
        ).toMatchObject(expected);
      },
    );

    it('cannot be caused by a forger who exceeds the limits', async () => {
      const raw = await signed('ada@b.example', ['evil.example']);
      const [own = ''] = /DKIM-Signature:(?:.*\r\n)(?:[ \t].*\r\n)*/.exec(raw.toString('latin1')) ?? [];
      const forged = own.replace('d=evil.example', 'd=b.example');
      const rest = raw.toString('latin1').replace(own, '');
      const dns = { ...dmarc('b.example', 'p=reject'), ...key('evil.example') };
      const seals = Array.from(
        { length: 40 },
        (_, i) => `ARC-Seal: i=${i + 1}; a=rsa-sha256; d=evil.example; s=a${i}; cv=none; b=x\r\n`,
      ).join('');
      const far = `X-Long: ${'x'.repeat(900)}\r\n`.repeat(400);

      const verdicts = await Promise.all(
        [
          `${seals}${forged}${rest}`,
          rest.replace(/^From: .*\r\n/m, `$&${far}${forged}`),
          `X-Folded: ${'a\r\n '.repeat(6_000)}z\r\n${forged}${rest}`,
          `${Array.from({ length: 30 }, (_, i) => own.replace('s=s;', `s=s${i};`)).join('')}${forged}${rest}`,
        ].map((text) => check(Buffer.from(text, 'latin1'), dns)),
      );

      expect(verdicts.map((each) => each.dmarc)).toEqual(['fail', 'fail', 'fail', 'fail']);
    });

    it('is not caused by an SPF record with too many lookups', async () => {
      const many = Object.fromEntries(
        Array.from({ length: 10 }, (_, i) => [
          `MX m${i}.evil.example`,
          Array.from({ length: 10 }, (__, j) => `${j} h${i}-${j}.evil.example`),
        ]),
      );
      const dns = {
        ...many,
        'TXT evil.example': [`v=spf1 ${Array.from({ length: 10 }, (_, i) => `mx:m${i}.evil.example`).join(' ')} -all`],
        ...dmarc('b.example', 'p=reject'),
      };
      const signatures = Array.from({ length: 20 }, (_, i) => `d${i}.evil.example`);

      const verdicts = await check(await signed('ada@b.example', signatures), dns, { mailFrom: 'x@evil.example' });

      expect(verdicts).toMatchObject({ dmarc: 'fail', dmarcPolicy: 'reject' });
    });

    it('for the keys of ARC is temperror, and decides nothing', async () => {
      const chain =
        'ARC-Seal: i=1; a=rsa-sha256; d=list.example; s=arc; cv=none; b=AAAA\r\nARC-Message-Signature: i=1; a=rsa-sha256; c=relaxed/relaxed; d=list.example; s=arc; h=from:to; bh=AAAA; b=AAAA\r\n' +
        'ARC-Authentication-Results: i=1; mx.list.example; dkim=pass\r\n';
      const raw = Buffer.concat([Buffer.from(chain), await signed('ada@b.example', ['b.example'])]);
      const dns = { ...key('b.example'), ...dmarc('b.example', 'p=reject') };

      const [silent, absent] = [
        await check(raw, { ...dns, 'TXT arc._domainkey.list.example': 'silent' }),
        await check(raw, dns),
      ];

      expect([silent.arc, silent.dmarc, absent.arc, absent.dmarc]).toEqual(['temperror', 'pass', 'fail', 'pass']);
    });
  });

  it('sends no query for names that are not in DNS (RFC 6761)', async () => {
    const records = new FixedRecords({});

    const verdicts = await check(
      await signed('me@simulator.localhost', []),
      {},
      { mailFrom: 'me@simulator.localhost' },
      records,
    );

    expect([verdicts.spf, verdicts.dmarc, records.asked]).toEqual(['none', 'none', []]);
  });

  it('a message whose signatures cannot be read is judged by SPF alone', async () => {
    const raw = Buffer.concat([
      Buffer.from(`X-Folded: ${'a\r\n '.repeat(6_000)}z\r\n`),
      await signed('ada@b.example', ['b.example']),
    ]);
    const dns = {
      ...key('b.example'),
      ...dmarc('b.example', 'p=reject'),
      'TXT b.example': ['v=spf1 ip4:192.0.2.1 -all'],
    };

    expect(await check(raw, dns, { clientIp: '192.0.2.1', mailFrom: 'ada@b.example' })).toEqual({
      spf: 'pass',
      dkim: 'permerror',
      dkimDomains: [],
      arc: 'permerror',
      dmarc: 'pass',
      dmarcPolicy: 'reject',
    });
    expect(await check(raw, dns, { clientIp: '192.0.2.2', mailFrom: 'ada@b.example' })).toMatchObject({
      spf: 'fail',
      dmarc: 'fail',
    });
  });

  it('500 signatures cause at most 20 queries', async () => {
    const [signature = ''] =
      /DKIM-Signature:(?:.*\r\n)(?:[ \t].*\r\n)*/.exec(
        (await signed('ada@b.example', ['b.example'])).toString('latin1'),
      ) ?? [];
    const bodyHash = createHash('sha256').update('Where is it?\r\n').digest('base64');
    const many = Array.from({ length: 500 }, (_, i) =>
      signature
        .replace('s=s;', `s=s${i};`)
        .replace(/bh=[^;]+;/, `bh=${bodyHash};`)
        .replace(/q=dns/, `l=${i % 14}; q=dns`),
    ).join('');
    const records = new FixedRecords({});

    const verdicts = await check(
      Buffer.concat([Buffer.from(many), await signed('ada@b.example', [])]),
      {},
      {},
      records,
    );

    expect(many).toContain('s=s499;');
    expect(records.asked.filter((asked) => asked.includes('_domainkey')).length).toBe(20);
    expect(verdicts.dmarc).toBe('none');
  });

  (hasDkimpy ? it : it.skip)('what dkimpy signs is judged right, in every canonicalization', async () => {
    const message =
      'From: Ada <ada@b.example>\r\nTo: a@in.example\r\nSubject:  Two   spaces\r\n\tand a fold\r\n\r\nLine  with   spaces \r\n\r\n\r\n';
    for (const [header, body] of [
      ['simple', 'simple'],
      ['relaxed', 'simple'],
      ['simple', 'relaxed'],
      ['relaxed', 'relaxed'],
    ]) {
      const program = `import sys, base64, dkim
m=base64.b64decode(sys.argv[1]); k=sys.argv[2].encode()
sys.stdout.buffer.write(dkim.sign(m, b's', b'b.example', k, canonicalize=(b'${header}', b'${body}')) + m)`;
      const { stdout, stderr } = spawnSync(PYTHON, ['-c', program, Buffer.from(message).toString('base64'), PEM]);

      const verdicts = await check(stdout, { ...key('b.example'), ...dmarc('b.example', 'p=reject') });

      expect([header, body, verdicts.dkim, verdicts.dmarc, stderr.toString()]).toEqual([
        header,
        body,
        'pass',
        'pass',
        '',
      ]);
    }
  });

  (hasDkimpy ? it : it.skip).each<[string, string, string[]]>([
    ['the whole body', '', ['pass', 'pass']],
    ['the whole body, before white space', ' \r\n\r\n', ['pass', 'pass']],
    ['a part of the body', 'Pay to another account.\r\n', ['policy', 'fail']],
  ])('a signature of dkimpy whose l= tag covers %s', async (_what, appended, expected) => {
    const message = 'From: Ada <ada@b.example>\r\nTo: a@in.example\r\nSubject: Order\r\n\r\nWhere is it?\r\n';
    const program = `import sys, base64, dkim
m=base64.b64decode(sys.argv[1]); k=sys.argv[2].encode()
sys.stdout.buffer.write(dkim.sign(m, b's', b'b.example', k, canonicalize=(b'relaxed', b'relaxed'), length=True) + m)`;
    const { stdout } = spawnSync(PYTHON, ['-c', program, Buffer.from(message).toString('base64'), PEM]);
    const raw = Buffer.concat([stdout, Buffer.from(appended)]);

    const verdicts = await check(raw, { ...key('b.example'), ...dmarc('b.example', 'p=reject') });
    const withoutKey = await check(raw, { 'TXT s._domainkey.b.example': 'silent', ...dmarc('b.example', 'p=reject') });

    expect(stdout.toString()).toContain('l=14');
    expect([verdicts.dkim, verdicts.dmarc]).toEqual(expected);
    expect(withoutKey.dmarc).toBe(appended.trim() === '' ? 'temperror' : 'fail');
  });
});
