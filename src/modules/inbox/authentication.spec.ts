import { createHash, generateKeyPairSync } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { createTransport } from 'nodemailer';
import { ToldRecords, type Told } from '../../../test/support/told-records.js';
import { authenticate } from './authentication.js';
import { verifySignatures } from './signatures.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
const KEY = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';

/** A signed message: one signature for each domain. */
async function signed(from: string, domains: readonly string[], headers: Record<string, string> = {}): Promise<Buffer> {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const message = { from, to: 'a@in.example', subject: 'Order', text: 'Where is it?\n', headers };
  let raw = (await transport.sendMail(message)).message as Buffer;
  for (const domainName of domains) {
    raw = (await transport.sendMail({ envelope: { from: 'x@y.example', to: 'a@in.example' }, raw, dkim: { domainName, keySelector: 's', privateKey: PEM } })).message as Buffer;
  }
  return raw;
}

function check(raw: Buffer, told: Told, { mailFrom = 'bounce@other.example', clientIp = '192.0.2.1' } = {}, records = new ToldRecords(told)) {
  return authenticate({ environmentId: 1, raw, clientIp, helo: 'mail.other.example', mailFrom, ownName: 'mx.in.example' }, records, verifySignatures);
}

const key = (domain: string): Told => ({ [`TXT s._domainkey.${domain}`]: [KEY] });
const dmarc = (domain: string, tags: string): Told => ({ [`TXT _dmarc.${domain}`]: [`v=DMARC1; ${tags}`] });

describe('whom a message is from', () => {
  it.each<[string, string, string[], string, string]>([
    ['its own domain', 'ada@b.example', ['b.example'], 'p=reject', 'pass'],
    ['a domain below, relaxed', 'ada@sub.b.example', ['b.example'], 'p=reject', 'pass'],
    ['a domain above, relaxed', 'ada@b.example', ['mail.b.example'], 'p=reject', 'pass'],
    ['a domain below, strict', 'ada@sub.b.example', ['b.example'], 'p=reject; adkim=s; aspf=s', 'fail'],
    ['its own domain, strict', 'ada@b.example', ['b.example'], 'p=quarantine; adkim=s', 'pass'],
    ['a stranger', 'ada@b.example', ['stranger.example'], 'p=reject', 'fail'],
    ['a domain that only ends like it', 'ada@b.example', ['notb.example'], 'p=reject', 'fail'],
    ['several, one of them its own', 'ada@b.example', ['list.example', 'b.example', 'stranger.example'], 'p=reject; adkim=s', 'pass'],
    ['nobody', 'ada@b.example', [], 'p=reject', 'fail'],
  ])('signed by %s: DMARC', async (_who, from, domains, tags, expected) => {
    const told = { ...Object.assign({}, ...domains.map(key)), ...dmarc('b.example', tags) } as Told;

    const verdicts = await check(await signed(from, domains), told);

    expect([verdicts.dmarc, verdicts.dmarcPolicy]).toEqual([expected, /p=(\w+)/.exec(tags)?.[1]]);
    expect(verdicts.dkim).toBe(domains.length === 0 ? 'none' : 'pass');
  });

  it('SPF counts for its envelope, and aligns by its domain', async () => {
    const raw = await signed('ada@b.example', []);
    const told = { ...dmarc('b.example', 'p=reject'), 'TXT mail.b.example': ['v=spf1 ip4:192.0.2.0/24 -all'], 'TXT other.example': ['v=spf1 ip4:192.0.2.1 -all'] };

    const [own, strangers, wrong] = [
      await check(raw, told, { mailFrom: 'x@mail.b.example' }), await check(raw, told), await check(raw, told, { mailFrom: 'x@mail.b.example', clientIp: '198.51.100.1' }),
    ];

    expect([own.spf, own.dmarc, strangers.spf, strangers.dmarc, wrong.spf, wrong.dmarc]).toEqual(['pass', 'pass', 'pass', 'fail', 'fail', 'fail']);
  });

  it('an internationalised domain is the same in either form', async () => {
    const host = 'xn--mnchen-3ya.example';
    const message = Buffer.from('From: ada@m\u00fcnchen.example\r\nTo: a@in.example\r\nSubject: Order\r\n\r\nWhere is it?\r\n');
    const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message: raw } = await transport.sendMail({ envelope: { from: 'x@y.example', to: 'a@in.example' }, raw: message, dkim: { domainName: host, keySelector: 's', privateKey: PEM } });

    const verdicts = await check(raw as Buffer, { ...key(host), ...dmarc(host, 'p=reject; adkim=s') });

    expect([verdicts.dkim, verdicts.dmarc]).toEqual(['pass', 'pass']);
  });

  it('no record of DMARC says nothing, whatever else holds', async () => {
    const verdicts = await check(await signed('ada@b.example', ['b.example']), key('b.example'));

    expect(verdicts).toMatchObject({ dkim: 'pass', dmarc: 'none', dmarcPolicy: null });
  });

  it('a message that was changed is signed by nobody', async () => {
    const raw = await signed('ada@b.example', ['b.example']);

    const verdicts = await check(Buffer.from(raw.toString('latin1').replace('Where is it', 'Here it is'), 'latin1'), { ...key('b.example'), ...dmarc('b.example', 'p=reject') });

    expect([verdicts.dkim, verdicts.dmarc]).toEqual(['neutral', 'fail']);
  });

  it('several From headers have no verdict', async () => {
    const raw = await signed('ada@b.example', ['b.example']);

    const verdicts = await check(Buffer.concat([Buffer.from('From: boss@bank.example\r\n'), raw]), { ...key('b.example'), ...dmarc('b.example', 'p=reject'), ...dmarc('bank.example', 'p=reject') });

    expect(verdicts.dmarc).toBe('permerror');
  });

  it('a domain that is too long to be one is nobody\'s, and is not made A-labels of', async () => {
    const long = Array.from({ length: 140_000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7_919) % 20_000))).join('');
    const before = process.cpuUsage();

    const { dmarc: verdict } = await authenticate(
      { environmentId: 1, raw: Buffer.from('From: nobody'), clientIp: '192.0.2.1', helo: 'mail.other.example', mailFrom: '', ownName: 'mx.in.example' },
      new ToldRecords(dmarc('b.example', 'p=reject')), async () => ({ dkim: [], arc: 'none', from: [`ada@${long}.example`, 'ada@b.example'], fromFields: 1 }),
    );

    expect(verdict).toBe('permerror');
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });

  it('name servers that are silent cost verdicts, and never the message', async () => {
    const silent = { 'TXT s._domainkey.b.example': 'silent', 'TXT _dmarc.b.example': 'silent', 'TXT other.example': 'silent' } as const;

    const verdicts = await check(await signed('ada@b.example', ['b.example']), silent);

    expect(verdicts).toMatchObject({ spf: 'temperror', dkim: 'temperror', dmarc: 'temperror', dmarcPolicy: null });
  });

  it('500 signatures are 20 questions at most', async () => {
    const [signature = ''] = /DKIM-Signature:(?:.*\r\n)(?:[ \t].*\r\n)*/.exec((await signed('ada@b.example', ['b.example'])).toString('latin1')) ?? [];
    const bodyHash = createHash('sha256').update('Where is it?\r\n').digest('base64');
    const many = Array.from({ length: 500 }, (_, i) => signature.replace('s=s;', `s=s${i};`).replace(/bh=[^;]+;/, `bh=${bodyHash};`).replace(/q=dns/, `l=${i % 14}; q=dns`)).join('');
    const records = new ToldRecords({});

    const verdicts = await check(Buffer.concat([Buffer.from(many), await signed('ada@b.example', [])]), {}, {}, records);

    expect(many).toContain('s=s499;');
    expect(records.asked.filter((asked) => asked.includes('_domainkey')).length).toBe(20);
    expect(verdicts.dmarc).toBe('none');
  });

  (PYTHON === '' ? it.skip : it)('what dkimpy signs is judged right, in every canonicalization', async () => {
    const message = 'From: Ada <ada@b.example>\r\nTo: a@in.example\r\nSubject:  Two   spaces\r\n\tand a fold\r\n\r\nLine  with   spaces \r\n\r\n\r\n';
    for (const [header, body] of [['simple', 'simple'], ['relaxed', 'simple'], ['simple', 'relaxed'], ['relaxed', 'relaxed']]) {
      const program = `import sys, base64, dkim
m=base64.b64decode(sys.argv[1]); k=sys.argv[2].encode()
sys.stdout.buffer.write(dkim.sign(m, b's', b'b.example', k, canonicalize=(b'${header}', b'${body}')) + m)`;
      const { stdout, stderr } = spawnSync(PYTHON, ['-c', program, Buffer.from(message).toString('base64'), PEM]);

      const verdicts = await check(stdout, { ...key('b.example'), ...dmarc('b.example', 'p=reject') });

      expect([header, body, verdicts.dkim, verdicts.dmarc, stderr.toString()]).toEqual([header, body, 'pass', 'pass', '']);
    }
  });
});
