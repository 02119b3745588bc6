import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually, freePort, noteForReaper } from '../durability/processes.js';
import { hasPythonModules, hasTool } from './optional-tools.js';

const START_MS_MAX = 60_000;
const PYTHON = process.env['POSTHORN_TEST_PYTHON'] ?? '';
const INSTALL = 'set POSTHORN_TEST_PYTHON to a python with moto[server], as .ci/run does';

/** Authorization header of the first IAM calls. moto reads only the service name from this header. */
const UNVERIFIED = 'AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x';
const MAY_ALL =
  '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["sqs:*", "ses:*", "s3:*"], "Resource": "*"}]}';

/** Returns whether moto is installed. CI must have it, so that the guarantees for SQS are tested. */
export const isMotoInstalled = (): boolean =>
  hasTool({ skipped: 'the tests of SQS, SES and S3', tool: 'Python with moto[server]', install: INSTALL }, () =>
    hasPythonModules(PYTHON, 'moto.server', 'flask'),
  );

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

/** moto's server, which implements SQS, SES and S3 without AWS. It verifies signatures, as AWS does. */
export class Moto {
  private constructor(
    private readonly port: number,
    private readonly child: ChildProcess,
    /** Credentials of a user with all permissions. */
    readonly credentials: Credentials,
    /** A second key of the user. moto accepts only the two keys of this user. */
    readonly otherCredentials: Credentials,
  ) {}

  static async start(): Promise<Moto> {
    const port = await freePort();
    const child = spawn(PYTHON, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    child.once('exit', noteForReaper(child.pid));
    const url = `http://127.0.0.1:${port}`;
    const isReady = await eventually(
      () =>
        fetch(`${url}/moto-api/`).then(
          ({ ok }) => ok,
          () => false,
        ),
      START_MS_MAX,
    );
    if (!isReady) throw new Error(`moto does not answer at ${url}.`);
    const [first, second] = await onlyUser(url);
    return new Moto(port, child, first, second);
  }

  /** Revokes the second key. */
  async revokeOthers(): Promise<void> {
    await verifyAfter(this.url, 1);
    await iam(this.url, { Action: 'DeleteAccessKey', AccessKeyId: this.otherCredentials.accessKeyId });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async stop(): Promise<void> {
    const gone = once(this.child, 'exit');
    if (this.child.exitCode === null && this.child.signalCode === null && this.child.kill('SIGKILL')) await gone;
  }
}

/** Creates the only user, turns on signature verification, and returns the user's keys. */
async function onlyUser(url: string): Promise<[Credentials, Credentials]> {
  await iam(url, { Action: 'CreateUser' });
  await iam(url, { Action: 'PutUserPolicy', PolicyName: 'all', PolicyDocument: MAY_ALL });
  const keys: [Credentials, Credentials] = [await newKey(url), await newKey(url)];
  await verifyAfter(url, 0);
  return keys;
}

async function newKey(url: string): Promise<Credentials> {
  const key = await iam(url, { Action: 'CreateAccessKey' });
  const field = (name: string): string => new RegExp(`<${name}>([^<]+)<`).exec(key)?.[1] ?? '';
  return { accessKeyId: field('AccessKeyId'), secretAccessKey: field('SecretAccessKey') };
}

async function iam(url: string, fields: Record<string, string>): Promise<string> {
  const body = new URLSearchParams({ Version: '2010-05-08', UserName: 'posthorn', ...fields });
  return (await fetch(url, { method: 'POST', headers: { authorization: UNVERIFIED }, body })).text();
}

/** Makes moto accept `requests` more requests without verifying their signatures. */
async function verifyAfter(url: string, requests: number): Promise<void> {
  await fetch(`${url}/moto-api/reset-auth`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: String(requests),
  });
}
