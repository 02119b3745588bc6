import { spawnSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { hasPythonModules, hasTool } from '../../test/support/optional-tools.js';
import { compose, type ComposedMessage, NotComposed } from './compose.js';

const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';
const hasDkimpy = hasTool(
  {
    skipped: 'the test of Ed25519 signatures with dkimpy',
    tool: 'Python with dkimpy and PyNaCl',
    install: 'set POSTHORN_TEST_PYTHON, as .ci/run does',
  },
  () => hasPythonModules(PYTHON, 'dkim', 'nacl'),
);

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const KEYS = {
  domain: 'example.com',
  selector: 'phr1',
  privateKey: rsa,
  ed25519: { selector: 'phe1', privateKey: ed25519 },
};
const spki = (key: KeyObject): Buffer => createPublicKey(key).export({ type: 'spki', format: 'der' });
const RECORDS: Record<string, string> = {
  'phr1._domainkey.example.com': `v=DKIM1; k=rsa; p=${spki(rsa).toString('base64')}`,
  'phe1._domainkey.example.com': `v=DKIM1; k=ed25519; p=${spki(ed25519).subarray(-32).toString('base64')}`,
};

const MESSAGE: ComposedMessage = {
  messageId: '<evt_1@example.com>',
  date: new Date('2026-11-22T15:00:00Z'),
  from: { name: 'Ada Lovelace', address: 'ada@example.com' },
  to: [{ name: '山田太郎', address: 'taro@example.jp' }],
  cc: [],
  replyTo: [],
  subject: 'Ihre Bestellung 📦 ist unterwegs – und zwar mit einem Betreff, der gefaltet wird',
  html: `<p>${'x'.repeat(2000)}</p>`,
  text: '.\n..\n . \n  trailing  \t \n\n\nZoë grüßt 世界',
  headers: { 'List-Unsubscribe': '<https://example.com/u>', 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' },
  attachments: [{ filename: 'a.bin', contentType: 'image/png', content: Buffer.alloc(70_000, 7), contentId: null }],
};

/** Returns the DKIM algorithms of the message with the results of mailauth, in the order of the signatures. */
async function verified(raw: Buffer): Promise<string[]> {
  const { results } = await dkimVerify(raw, {
    resolver: async (name: string) => [[RECORDS[name] ?? '']],
  });
  return results.map(({ algo, status }) => `${algo} ${status.result}`);
}

/** Python script that prints whether dkimpy accepts the first and the second signature. */
const VERIFIER = `
import base64, json, sys
import dkim
given = json.load(sys.stdin)
raw = base64.b64decode(given["raw"])
def dnsfunc(name, timeout=5):
    return given["records"][(name.decode() if isinstance(name, bytes) else name).rstrip(".")].encode()
print(json.dumps([dkim.DKIM(raw).verify(idx=idx, dnsfunc=dnsfunc) for idx in (0, 1)]))
`;

function verifiedByDkimpy(raw: Buffer): unknown {
  const input = JSON.stringify({ raw: raw.toString('base64'), records: RECORDS });
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', VERIFIER], { input, encoding: 'utf8', maxBuffer: 64 << 20 });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

const changed = (raw: Buffer): Buffer =>
  Buffer.from(raw.toString('latin1').replace('=One-Click', '=Two-Click'), 'latin1');

describe('compose with an Ed25519 key', () => {
  it('signs twice, with RSA first, and mailauth accepts both signatures', async () => {
    const raw = await compose(MESSAGE, KEYS);

    expect(raw.toString('latin1').match(/^DKIM-Signature: v=1; a=[a-z0-9-]+/gm)).toEqual([
      'DKIM-Signature: v=1; a=rsa-sha256',
      'DKIM-Signature: v=1; a=ed25519-sha256',
    ]);
    expect((await verified(raw)).sort()).toEqual(['ed25519-sha256 pass', 'rsa-sha256 pass']);
    expect((await verified(changed(raw))).sort()).toEqual(['ed25519-sha256 fail', 'rsa-sha256 fail']);
  });

  it('returns the same bytes for the same message', async () => {
    const message = { ...MESSAGE, html: null, attachments: [] };

    expect(await compose(message, KEYS)).toEqual(await compose(message, KEYS));
  });

  it('leaves out Message-ID and Date of both signatures if the transport replaces them', async () => {
    const raw = (await compose(MESSAGE, KEYS, { rewritesIdentity: true })).toString('latin1');

    const signed = [...raw.matchAll(/\bh=([^;]+);/g)].map(([, names = '']) => names.replace(/\s/g, '').toLowerCase());
    expect(signed).toHaveLength(2);
    for (const names of signed) {
      expect(names).toContain('list-unsubscribe-post');
      expect(names).not.toMatch(/message-id|(^|:)date(:|$)/);
    }
  });

  it('throws instead of returning a message without the second signature', async () => {
    const keys = { ...KEYS, ed25519: { selector: 'phe1', privateKey: rsa } };

    await expect(compose(MESSAGE, keys)).rejects.toThrow(NotComposed);
  });

  (hasDkimpy ? it : it.skip)('dkimpy accepts both signatures, and rejects both for a changed header', async () => {
    const raw = await compose(MESSAGE, KEYS);

    expect(verifiedByDkimpy(raw)).toEqual([true, true]);
    expect(verifiedByDkimpy(changed(raw))).toEqual([false, false]);
  });
});
