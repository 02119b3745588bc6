import { spawn } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { hasPythonModules, hasTool } from '../support/optional-tools.js';
import type { ReceivedRequest } from '../support/receiver.js';
import type { PosthornServer } from '../support/server.js';
import { startServer } from '../support/server.js';
import type { TargetPath, Targets } from './scene.js';
import { destinationAt, expectStatus, send, startTargets } from './scene.js';

/** Response of `GET …/secret`. */
interface Keys {
  secret: string;
  public_key: string | null;
}

const OLD_SECRET = 'an old shared secret';
const GITHUB = { header: 'X-Hub-Signature-256', format: 'sha256={signature}', secret: OLD_SECRET };
const STRIPE = {
  header: 'Stripe-Signature',
  content: '{timestamp}.{body}',
  format: 't={timestamp},v1={signature}',
  secret: OLD_SECRET,
};
const PAYLOAD = { id: 'evt_1', object: 'event', name: 'Zoë 😀', amount: 12.5 };

/** Signing modes: a name, the settings, and whether the keys are rotated before the delivery. */
const MODES: [string, object, boolean][] = [
  ['v1', {}, false],
  ['v1 and v1a', { asymmetric: true }, false],
  ['v1 during a rotation', {}, true],
  ['v1 and v1a during a rotation', { asymmetric: true }, true],
  ["v1 with the old header of GitHub's kind", { legacy_signature: GITHUB }, false],
  [
    "v1 and v1a with the old header of Stripe's kind, during a rotation",
    { asymmetric: true, legacy_signature: STRIPE },
    true,
  ],
];

/** Path of a Python with both verifier packages, which few machines have installed. */
const { POSTHORN_TEST_PYTHON: PYTHON } = process.env;
const hasVerifiers = hasTool(
  {
    skipped: 'the Python verifiers',
    tool: 'Python with standardwebhooks and svix',
    install: 'set POSTHORN_TEST_PYTHON, as .ci/run does',
  },
  () => hasPythonModules(PYTHON, 'standardwebhooks', 'svix'),
);

/** Python program that reads deliveries as JSON and prints the reason of each rejection, and nothing else. */
const PYTHON_VERIFIERS = `
import base64, json, sys
import standardwebhooks, svix
for each in json.load(sys.stdin):
    body = base64.b64decode(each["body"]).decode()
    for package in (standardwebhooks, svix):
        accepted = True
        try:
            package.Webhook(each["secret"]).verify(body, each["headers"])
        except Exception:
            accepted = False
        if accepted != each["expected"]:
            print(package.__name__, each["mode"], each["expected"])
print("done")
`;

describe('signatures', () => {
  let server: PosthornServer;
  let targets: Targets;
  /** Deliveries with a secret and the expected result, for the verifiers in other languages. */
  const delivered: {
    mode: string;
    secret: string;
    expected: boolean;
    body: string;
    headers: Record<string, string>;
  }[] = [];

  beforeAll(async () => {
    [server, targets] = await Promise.all([startServer(), startTargets()]);
  });

  afterAll(async () => {
    await server.stop();
    await targets.close();
  });

  const keysOf = async (id: string): Promise<Keys> =>
    expectStatus(await server.api('GET', `/v1/destinations/${id}/secret`), 200).json;
  const rotate = async (id: string, body: object = {}): Promise<Keys> =>
    expectStatus(await server.api('POST', `/v1/destinations/${id}/secret/rotate`, body), 200).json;
  const patch = async (id: string, body: object): Promise<void> =>
    void expectStatus(await server.api('PATCH', `/v1/destinations/${id}`, body), 200);

  async function nextPost(target: TargetPath, destination: string, fields: object = {}): Promise<ReceivedRequest> {
    const before = target.posts().length;
    await send(server, destination, { payload: PAYLOAD, ...fields });
    return (await target.arrived(before + 1)).at(-1) as ReceivedRequest;
  }

  const header = ({ headers }: ReceivedRequest, name: string): string => String(headers[name]);
  const versions = (post: ReceivedRequest): string[] =>
    header(post, 'webhook-signature')
      .split(' ')
      .map((part) => part.slice(0, part.indexOf(',')));

  /** Returns the result of each official JavaScript verifier for a delivery. */
  function accepted(secret: string, { rawBody, headers }: ReceivedRequest): boolean[] {
    return [StandardWebhook, SvixWebhook].map((Verifier) => {
      try {
        new Verifier(secret).verify(rawBody.toString(), headers as Record<string, string>);
        return true;
      } catch {
        return false;
      }
    });
  }

  /** Returns whether a `v1a` signature of the delivery matches the key. No JavaScript package verifies `v1a`. */
  function acceptsAsymmetric(publicKey: string, post: ReceivedRequest): boolean {
    const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url');
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const signed = Buffer.concat([
      Buffer.from(`${header(post, 'webhook-id')}.${header(post, 'webhook-timestamp')}.`),
      post.rawBody,
    ]);
    return header(post, 'webhook-signature')
      .split(' ')
      .filter((part) => part.startsWith('v1a,'))
      .some((part) => verify(null, signed, key, Buffer.from(part.slice('v1a,'.length), 'base64')));
  }

  function note(mode: string, secret: string, { rawBody, headers }: ReceivedRequest, expected = true): void {
    delivered.push({
      mode,
      secret,
      expected,
      body: rawBody.toString('base64'),
      headers: headers as Record<string, string>,
    });
  }

  it.each(MODES)(
    '%s: every official verifier accepts the delivery with every valid key, and with no other key',
    async (mode, settings, rotates) => {
      const target = targets.open();
      const id = await destinationAt(server, target.url, settings);
      const keys = [await keysOf(id), ...(rotates ? [await rotate(id)] : [])];

      const post = await nextPost(target, id);

      const isAsymmetric = 'asymmetric' in settings;
      expect(versions(post)).toEqual([...keys.map(() => 'v1'), ...(isAsymmetric ? keys.map(() => 'v1a') : [])]);
      for (const { secret, public_key: publicKey } of keys) {
        expect([secret, ...accepted(secret, post)]).toEqual([secret, true, true]);
        expect(publicKey === null ? null : acceptsAsymmetric(publicKey, post)).toBe(isAsymmetric ? true : null);
        note(mode, secret, post);
      }
      const other = await keysOf(await destinationAt(server, target.url, { asymmetric: true }));
      expect([...accepted(other.secret, post), acceptsAsymmetric(other.public_key ?? '', post)]).toEqual([
        false,
        false,
        false,
      ]);
      note(mode, other.secret, post, false);
    },
  );

  it('the verifiers of GitHub and Stripe accept the legacy header, also of a replay', async () => {
    const target = targets.open();
    const id = await destinationAt(server, target.url, { legacy_signature: GITHUB });

    const github = await nextPost(target, id);
    await patch(id, { legacy_signature: STRIPE });
    const stripe = await nextPost(target, id);

    expect(await verifyGithub(OLD_SECRET, github.rawBody.toString(), header(github, 'x-hub-signature-256'))).toBe(true);
    expect(await verifyGithub('another', github.rawBody.toString(), header(github, 'x-hub-signature-256'))).toBe(false);
    expect(Stripe.webhooks.constructEvent(stripe.rawBody, header(stripe, 'stripe-signature'), OLD_SECRET)).toEqual(
      PAYLOAD,
    );
    expect(() =>
      Stripe.webhooks.constructEvent(stripe.rawBody, header(stripe, 'stripe-signature'), 'another'),
    ).toThrow();
    expect([github.headers['stripe-signature'], stripe.headers['x-hub-signature-256']]).toEqual([undefined, undefined]);
  });

  it('a legacy signature has timestamp and id in the headers that the receiver reads, and no message overrides these headers', async () => {
    const target = targets.open();
    const legacy = {
      ...GITHUB,
      content: '{id}.{timestamp}.{body}',
      timestamp_header: 'X-Old-Time',
      id_header: 'X-Old-Id',
    };
    const id = await destinationAt(server, target.url, { legacy_signature: legacy });

    const post = await nextPost(target, id, { headers: { 'X-Old-Id': 'forged', 'X-Hub-Signature-256': 'forged' } });

    expect([post.headers['x-old-time'], post.headers['x-old-id']]).toEqual([
      post.headers['webhook-timestamp'],
      post.headers['webhook-id'],
    ]);
    const signed = `${header(post, 'x-old-id')}.${header(post, 'x-old-time')}.${post.rawBody.toString()}`;
    expect(await verifyGithub(OLD_SECRET, signed, header(post, 'x-hub-signature-256'))).toBe(true);
  });

  it('asymmetric signatures start and stop with the setting, and start again with a new key', async () => {
    const target = targets.open();
    const id = await destinationAt(server, target.url);
    const plain = await keysOf(id);

    await patch(id, { asymmetric: true });
    const first = await keysOf(id);
    const signed = await nextPost(target, id);
    await patch(id, { name: 'Unchanged keys', asymmetric: true });
    expect(await keysOf(id)).toEqual(first);
    await patch(id, { asymmetric: false });
    const unsigned = await nextPost(target, id);
    await patch(id, { asymmetric: true });
    const second = await keysOf(id);

    expect(plain).toEqual({ secret: first.secret, public_key: null });
    expect(first.public_key).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    expect([acceptsAsymmetric(first.public_key ?? '', signed), versions(signed), versions(unsigned)]).toEqual([
      true,
      ['v1', 'v1a'],
      ['v1'],
    ]);
    expect(second.secret).toBe(first.secret);
    expect(second.public_key).not.toBe(first.public_key);
  });

  it('without a grace the old key pair stops at once; with a grace it stops automatically', async () => {
    const target = targets.open();
    const id = await destinationAt(server, target.url, { asymmetric: true });
    const old = await keysOf(id);

    const next = await rotate(id, { grace_seconds: 0 });
    const sudden = await nextPost(target, id);
    const last = await rotate(id, { grace_seconds: 1 });
    let post = await nextPost(target, id);
    const during = versions(post);
    for (let tries = 0; versions(post).length > 2 && tries < 2_000; tries += 1) post = await nextPost(target, id);

    expect([old, next].map(({ public_key: key }) => acceptsAsymmetric(key ?? '', sudden))).toEqual([false, true]);
    expect(during).toEqual(['v1', 'v1', 'v1a', 'v1a']);
    expect([next, last].map(({ public_key: key }) => acceptsAsymmetric(key ?? '', post))).toEqual([false, true]);
    expect(versions(post)).toEqual(['v1', 'v1a']);
  });

  (hasVerifiers ? it : it.skip)('the official Python verifiers agree on every delivery of every mode', async () => {
    const python = spawn(PYTHON as string, ['-c', PYTHON_VERIFIERS], { stdio: ['pipe', 'pipe', 'inherit'] });
    const output = text(python.stdout);
    python.stdin.end(JSON.stringify(delivered));

    await once(python, 'exit');

    expect(delivered.length).toBeGreaterThan(MODES.length);
    expect(await output).toBe('done\n');
  });
});
