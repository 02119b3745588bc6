import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { eventually, freePort, noteForReaper } from '../durability/processes.js';

const START_MS_MAX = 60_000;
const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';
const INSTALL = 'set POSTHORN_TEST_PYTHON to a python with moto[server], as .ci/run does';

/** moto reads the service that is meant from the signature, which it does not verify yet when this is sent. */
const UNVERIFIED = 'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x';
const MAY_ALL_OF_SQS = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}]}';

/** Whether there is a moto to run. CI must have one: what is promised for SQS is not left untested there. */
export function isMotoInstalled(): boolean {
  const isInstalled = PYTHON !== '' && spawnSync(PYTHON, ['-c', 'import moto.server, flask']).status === 0;
  if (!isInstalled && process.env['CI'] === 'true') throw new Error(`There is no moto: ${INSTALL}.`);
  if (!isInstalled) process.stdout.write(`api: the SQS tests are skipped, there is no moto (${INSTALL}).\n`);
  return isInstalled;
}

/** moto's server: the protocol of SQS and its queues, without AWS. It verifies signatures, as AWS does. */
export class Moto {
  private constructor(
    private readonly port: number,
    private readonly child: ChildProcess,
    /** Of a user who may do everything with SQS, and the only ones that it takes. */
    readonly credentials: { accessKeyId: string; secretAccessKey: string },
  ) {}

  static async start(): Promise<Moto> {
    const port = await freePort();
    const child = spawn(PYTHON, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    child.once('exit', noteForReaper(child.pid));
    const url = `http://127.0.0.1:${port}`;
    const isReady = await eventually(() => fetch(`${url}/moto-api/`).then(({ ok }) => ok, () => false), START_MS_MAX);
    if (!isReady) throw new Error(`moto does not answer at ${url}.`);
    return new Moto(port, child, await onlyUser(url));
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.signalCode === null && this.child.kill('SIGKILL')) await gone;
  }
}

/** Makes a user, and has signatures verified from then on. */
async function onlyUser(url: string): Promise<Moto['credentials']> {
  const iam = async (fields: Record<string, string>): Promise<string> => {
    const body = new URLSearchParams({ Version: '2010-05-08', UserName: 'posthorn', ...fields });
    return (await fetch(url, { method: 'POST', headers: { authorization: UNVERIFIED }, body })).text();
  };
  await iam({ Action: 'CreateUser' });
  await iam({ Action: 'PutUserPolicy', PolicyName: 'sqs', PolicyDocument: MAY_ALL_OF_SQS });
  const key = await iam({ Action: 'CreateAccessKey' });
  const field = (name: string): string => new RegExp(`<${name}>([^<]+)<`).exec(key)?.[1] ?? '';
  await fetch(`${url}/moto-api/reset-auth`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '0' });
  return { accessKeyId: field('AccessKeyId'), secretAccessKey: field('SecretAccessKey') };
}
