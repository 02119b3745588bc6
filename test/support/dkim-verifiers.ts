import { spawnSync } from 'node:child_process';
import { type KeyObject } from 'node:crypto';
import { verifySignatures } from '../../src/modules/inbox/reading/signatures.js';
import { hasPythonModules, hasTool } from './optional-tools.js';

const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';

/**
 * Prints whether the signature of each message on standard input is valid. Resolves a single DNS record, which contains
 * the key.
 */
const PROGRAM = `
import base64, dkim, json, sys
given = json.load(sys.stdin)
def find(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return given["record"].encode() if name.rstrip(".") == given["name"] else None
print(json.dumps([dkim.verify(base64.b64decode(raw), dnsfunc=find) for raw in given["messages"]]))
`;

/** Prints the verdict on each DKIM signature of the message on standard input, and on its ARC chain. */
const VERDICTS_PROGRAM = `
import base64, dkim, json, sys
given = json.load(sys.stdin)
raw = base64.b64decode(given["raw"])
def find(name, timeout=5):
    name = name.decode() if isinstance(name, bytes) else name
    return given["records"].get(name.rstrip("."), "").encode()
def verdict(index):
    try:
        return "pass" if message.verify(idx=index, dnsfunc=find) else "fail"
    except dkim.DKIMException:
        return "fail"
message = dkim.DKIM(raw)
count = sum(1 for name, value in message.headers if name.lower() == b"dkim-signature")
print(json.dumps({"dkim": [verdict(index) for index in range(count)], "arc": dkim.arc_verify(raw, dnsfunc=find)[0].decode()}))
`;

/**
 * Verdicts, in the terms of RFC 8601, on a message: one for each DKIM signature, in order, and one for its ARC chain.
 */
export interface SignatureVerdicts {
  dkim: string[];
  arc: string;
}

export interface PublishedKey {
  /** Name of the TXT record, without a trailing dot. */
  name: string;
  record: string;
}

export const hasDkimpy = (): boolean =>
  hasTool(
    {
      skipped: 'the tests with dkimpy',
      tool: 'Python with dkimpy',
      install: 'set POSTHORN_TEST_PYTHON, as .ci/run does',
    },
    () => hasPythonModules(PYTHON, 'dkim'),
  );

export function publishedKey(selector: string, domain: string, publicKey: KeyObject): PublishedKey {
  const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  return { name: `${selector}._domainkey.${domain}`, record: `v=DKIM1; k=rsa; p=${key}` };
}

/** TXT records by name, without a trailing dot. */
export type PublishedRecords = Readonly<Record<string, string>>;

export function dkimpyVerdicts(raw: string, records: PublishedRecords): SignatureVerdicts {
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', VERDICTS_PROGRAM], {
    input: JSON.stringify({ raw: Buffer.from(raw, 'latin1').toString('base64'), records }),
    encoding: 'utf8',
  });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout) as SignatureVerdicts;
}

export async function mailauthVerdicts(raw: string, records: PublishedRecords): Promise<SignatureVerdicts> {
  const found = Object.fromEntries(Object.entries(records).map(([name, text]) => [name, { found: [text] }]));
  const { dkim, arc } = await verifySignatures(Buffer.from(raw, 'latin1'), found);
  return { dkim: dkim.map(({ verdict }) => verdict), arc };
}

/** Returns the verdicts of two independent verifiers on a message. */
export async function signatureVerdicts(
  raw: string,
  records: PublishedRecords,
): Promise<{ dkimpy: SignatureVerdicts; mailauth: SignatureVerdicts }> {
  return { dkimpy: dkimpyVerdicts(raw, records), mailauth: await mailauthVerdicts(raw, records) };
}

/** Returns the verdicts of two independent verifiers, dkimpy and mailauth, on each message. */
export async function dkimVerdicts(
  messages: readonly Buffer[],
  { name, record }: PublishedKey,
): Promise<{ dkimpy: boolean; mailauth: string }[]> {
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', PROGRAM], {
    input: JSON.stringify({ name, record, messages: messages.map((raw) => raw.toString('base64')) }),
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (stderr !== '') throw new Error(stderr);
  const dkimpy = JSON.parse(stdout) as boolean[];
  return Promise.all(
    messages.map(async (raw, index) => {
      const { dkim } = await verifySignatures(raw, { [name]: { found: [record] } });
      return { dkimpy: dkimpy[index] ?? false, mailauth: dkim.map(({ verdict }) => verdict).join(' ') };
    }),
  );
}
