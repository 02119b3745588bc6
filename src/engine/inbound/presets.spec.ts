import { Buffer } from 'node:buffer';
import { createSign, generateKeyPairSync, sign } from 'node:crypto';
import { PAYPAL } from '../../../test/support/paypal.js';
import { dedupeIdOf, eventTypeOf } from './classify.js';
import { PAYPAL_HEADERS, paypalContent } from './paypal.js';
import type { Preset } from './preset.js';
import { presetOf, PRESETS } from './presets.js';
import { headerOf, type ReceivedRequest } from './request.js';
import { responseFaults } from './response.js';
import { signedSample, unsignedSample } from './sample.js';
import type { Scheme } from './scheme.js';
import { snsCertificateUrl } from './sns.js';
import { verify } from './verify.js';

type Sample = Omit<ReceivedRequest, 'ip'>;

const NOW = Date.parse('2026-11-20T12:00:00.000Z');
const URL_CALLED = 'https://in.example.com/in/acme/hooks?tenant=7&note=%40home';
const ID = 'delivery-1';

const ed25519 = generateKeyPairSync('ed25519');
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const CERTIFICATE = rsa.publicKey.export({ type: 'spki', format: 'pem' }) as string;
const spki = (key: typeof ed25519.publicKey): Buffer => key.export({ type: 'spki', format: 'der' });

type Pair = [right: string, wrong: string];

const ANY: Pair = ['s3cret-ä', 's3cret-b'];
const HEX: Pair = ['44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056', 'ab'.repeat(32)];
const WHSEC: Pair = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'];

/** Secrets for schemes that do not accept arbitrary text as a secret. */
const SECRETS: Partial<Record<Scheme['kind'], Pair>> = {
  'standard-webhooks': WHSEC,
  adyen: HEX,
  ed25519: [spki(ed25519.publicKey).subarray(-32).toString('hex'), '0'.repeat(64)],
  ecdsa: [
    spki(p256.publicKey).toString('base64'),
    spki(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey).toString('base64'),
  ],
  sns: ['arn:aws:sns:us-west-2:123456789012:MyTopic', 'arn:aws:sns:us-west-2:123456789012:Another'],
  basic: ['hook:s3cret:with:colons', 'hook:other'],
};

function secretsOf({ verify: scheme }: Preset): Pair {
  return scheme.kind === 'hmac' && scheme.keyEncoding === 'hex' ? HEX : (SECRETS[scheme.kind] ?? ANY);
}

/** Signs a sample with the keys of this test, for schemes in which only the provider can sign. */
function signedByProvider(preset: Preset, secret: string): Sample {
  const { verify: scheme } = preset;
  const request = unsignedSample(preset, { secret, url: URL_CALLED, id: ID, nowMs: NOW });
  const stamped = Buffer.concat([Buffer.from('1700000000'), request.body]);
  if (scheme.kind === 'ed25519' || scheme.kind === 'ecdsa') {
    const signature =
      scheme.kind === 'ed25519'
        ? sign(null, stamped, ed25519.privateKey).toString('hex')
        : createSign('sha256').update(stamped).sign(p256.privateKey).toString('base64');
    return {
      ...request,
      headers: [...request.headers, [scheme.signatureHeader, signature], [scheme.timestampHeader, '1700000000']],
    };
  }
  if (scheme.kind === 'paypal') {
    const time = new Date(NOW).toISOString();
    const signature = createSign('RSA-SHA256')
      .update(paypalContent({ id: ID, time, webhookId: secret }, request.body))
      .sign(PAYPAL.key)
      .toString('base64');
    const values = [ID, time, signature, PAYPAL.certificateUrl, 'SHA256withRSA'];
    return {
      ...request,
      headers: [...request.headers, ...PAYPAL_HEADERS.map((name, i) => [name, values[i] ?? ''] as const)],
    };
  }
  const message = JSON.parse(request.body.toString());
  const content = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
    .map((name) => `${name}\n${message[name]}\n`)
    .join('');
  message.Signature = createSign('RSA-SHA256').update(content).sign(rsa.privateKey).toString('base64');
  return { ...request, body: Buffer.from(JSON.stringify(message)) };
}

function fixture(preset: Preset): { secret: string; wrong: string; request: Sample } {
  const [secret, wrong] = secretsOf(preset);
  const request =
    signedSample(preset, { secret, url: URL_CALLED, id: ID, nowMs: NOW }) ?? signedByProvider(preset, secret);
  return { secret, wrong, request };
}

const check = (preset: Preset, request: Sample, secrets: readonly string[], nowMs = NOW): string =>
  verify(preset.verify, request, secrets, nowMs, preset.id === 'paypal' ? PAYPAL.certificate : CERTIFICATE);

function proofHeaders(preset: Preset, request: Sample): string[] {
  const unsigned = new Set(Object.keys(preset.sample.headers));
  return request.headers.map(([name]) => name).filter((name) => !unsigned.has(name));
}

/**
 * Schemes that do not sign every byte of the body, each with a change that verification must detect. The changed body
 * is still well-formed. Null if the scheme does not sign the body at all.
 */
const CHANGES: Partial<Record<Scheme['kind'], readonly [RegExp, string] | null>> = {
  token: null,
  basic: null,
  adyen: [/1130/, '1131'],
  mailgun: [/"token":"/, '"token":"0'],
  'client-state': [/"clientState":"/, '"clientState":"0'],
  sns: [/Hello world/, 'Hello World'],
};

/** Returns `token` or `basic` for schemes that never cover the body, otherwise the id of the preset. */
const uncovered = ({ id, verify: { kind } }: Preset): string => (kind === 'token' || kind === 'basic' ? kind : id);

function changed({ id, verify: scheme }: Preset, request: Sample): Sample | null {
  if (id === 'monday' || id === 'mercadopago') return null;
  const change = CHANGES[scheme.kind] === undefined ? ([/[A-Za-z]/, 'x$&'] as const) : CHANGES[scheme.kind];
  return change ? { ...request, body: Buffer.from(request.body.toString().replace(...change)) } : null;
}

const all = [...PRESETS.values()].map((preset) => [preset.id, preset] as const);
const limited = all.flatMap(([id, { verify: scheme }]) => {
  if (scheme.kind === 'standard-webhooks') return [[id, scheme.toleranceSeconds, false] as const];
  const rule = scheme.kind === 'hmac' ? scheme.timestamp : undefined;
  return typeof rule?.toleranceSeconds === 'number'
    ? [[id, rule.toleranceSeconds, rule.ageOnly === true] as const]
    : [];
});

function preset(id: string): Preset {
  const found = presetOf(id);
  if (found === null) throw new Error(id);
  return found;
}

describe('the presets', () => {
  it('match the documented list', () => {
    expect([...PRESETS.keys()].sort()).toEqual([
      'adyen',
      'adyen-platform',
      'asana',
      'aws-sns',
      'bitbucket',
      'calendly',
      'clerk',
      'discord',
      'docusign',
      'dropbox',
      'elevenlabs',
      'fusionauth',
      'getstream',
      'github',
      'gitlab',
      'gitlab-signed',
      'hubspot',
      'instagram',
      'intercom',
      'lemonsqueezy',
      'linear',
      'mailgun',
      'mercadopago',
      'meta',
      'monday',
      'ms-graph',
      'mux',
      'netlify',
      'okta',
      'paddle',
      'pagerduty',
      'paypal',
      'postmark',
      'resend',
      'sendgrid',
      'shopify',
      'slack',
      'square',
      'standard-webhooks',
      'stripe',
      'svix',
      'trello',
      'twilio',
      'twitch',
      'typeform',
      'whatsapp',
      'workos',
      'x',
      'zendesk',
      'zoom',
    ]);
    expect(presetOf('nobody')).toBeNull();
  });

  it.each(all)(
    '%s: verifies a valid request, also during a rotation, and rejects it with another secret or none',
    (_id, each) => {
      const { request, secret, wrong } = fixture(each);

      expect(check(each, request, [secret])).toBe('verified');
      expect(check(each, request, [wrong, secret])).toBe('verified');
      expect(check(each, request, ['', 'not a key', secret])).toBe('verified');
      expect(check(each, request, [wrong])).toBe('failed');
      expect(check(each, request, ['not a key'])).toBe('failed');
      expect(check(each, request, [''])).toBe('failed');
      expect(check(each, request, [])).toBe('failed');
    },
  );

  it.each(all)('%s: rejects a request whose covered part was changed', (_id, each) => {
    const { request, secret } = fixture(each);
    const other = changed(each, request);
    if (other === null) return expect(['token', 'basic', 'monday', 'mercadopago']).toContain(uncovered(each));

    expect(other.body.equals(request.body)).toBe(false);
    expect(check(each, other, [secret])).toBe('failed');
    expect(check(each, { ...request, body: Buffer.alloc(0) }, [secret])).toBe('failed');
  });

  it.each(all)('%s: rejects a request in which a header of the proof is missing or garbage', (_id, each) => {
    const { request, secret } = fixture(each);
    const names = proofHeaders(each, request);
    const garbage = [
      '',
      ' ',
      'garbage',
      '=,=;=',
      't=,v1=',
      'ts=1;h1=zz',
      'v1,',
      'sha256=',
      'v0=00',
      '\u00ff'.repeat(64),
      'Basic !!!',
      'A'.repeat(43) + '=',
    ];

    expect(names.length === 0).toBe(['mailgun', 'adyen', 'client-state', 'sns'].includes(each.verify.kind));
    for (const name of names) {
      expect(check(each, { ...request, headers: request.headers.filter(([known]) => known !== name) }, [secret])).toBe(
        'failed',
      );
      for (const value of garbage) {
        const headers = request.headers.map(([known, kept]) => [known, known === name ? value : kept] as const);
        expect([name, value, check(each, { ...request, headers }, [secret])]).toEqual([name, value, 'failed']);
      }
    }
  });

  it.each(limited)('%s: accepts a timestamp up to %i s from now', (id, seconds, ageOnly) => {
    const { request, secret } = fixture(preset(id));

    expect(check(preset(id), request, [secret], NOW + seconds * 1000)).toBe('verified');
    expect(check(preset(id), request, [secret], NOW + (seconds + 1) * 1000)).toBe('failed');
    expect(check(preset(id), request, [secret], NOW - seconds * 1000)).toBe('verified');
    expect(check(preset(id), request, [secret], NOW - (seconds + 1) * 1000)).toBe(ageOnly ? 'verified' : 'failed');
  });

  it('have an age limit exactly if the provider signs the time', () => {
    expect(limited.map(([id]) => id).sort()).toEqual([
      'calendly',
      'clerk',
      'elevenlabs',
      'gitlab-signed',
      'hubspot',
      'linear',
      'mux',
      'paddle',
      'resend',
      'slack',
      'standard-webhooks',
      'stripe',
      'svix',
      'twitch',
      'workos',
      'zendesk',
      'zoom',
    ]);
  });

  it.each(all)('%s: the sample has the event type of its provider, and settings that could be saved', (_id, each) => {
    const { request } = fixture(each);
    const complete = {
      ...(each.response ?? { type: 'static' }),
      ...(each.response?.type === 'meta-challenge' && { verifyToken: 'x' }),
    };

    expect(eventTypeOf(each, request)).toBe(EVENT_TYPES[each.id]);
    expect(responseFaults(complete)).toEqual([]);
    expect(request.body.toString() + JSON.stringify(request.headers)).not.toContain('{{');
    expect(each.title && each.secret && each.retry.note).toBeTruthy();
  });

  it.each(all)('%s: finds the delivery id if the provider sends one', (id, each) => {
    const { request } = fixture(each);
    const expected = id in DEDUPE_IDS ? DEDUPE_IDS[id] : each.dedupeId.length === 0 ? null : ID;

    expect(dedupeIdOf(each, request)).toEqual(expected);
  });
});

describe('signedSample', () => {
  it.each(all)('%s: is null exactly where only the provider can sign', (_id, each) => {
    const [secret] = secretsOf(each);
    const sample = signedSample(each, { secret, url: URL_CALLED, id: ID, nowMs: NOW });

    expect(sample === null).toBe(['ed25519', 'ecdsa', 'sns', 'paypal'].includes(each.verify.kind));
    if (sample !== null) {
      const added = each.sample.query === undefined ? '' : `&${each.sample.query}`;
      expect(sample).toMatchObject({
        method: 'POST',
        url: URL_CALLED + added,
        query: `tenant=7&note=%40home${added}`,
      });
      expect(headerOf(sample, 'content-type')).toBeTruthy();
    }
  });

  it.each(['standard-webhooks', 'adyen', 'adyen-platform'])(
    '%s: is null for a secret without a key or with a public key',
    (id) => {
      for (const secret of ['', 'not a key', 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=']) {
        expect(signedSample(preset(id), { secret, url: URL_CALLED, id: ID, nowMs: NOW })).toBeNull();
      }
    },
  );

  it('keeps JSON valid for any id and secret', () => {
    const odd = 'a"b\\c\n{{secret}}$&';
    const sample = signedSample(preset('ms-graph'), { secret: odd, url: URL_CALLED, id: odd, nowMs: NOW });

    expect(JSON.parse(sample?.body.toString() ?? '').value[0].clientState).toBe(odd);
    expect(verify({ kind: 'client-state' }, sample as Sample, [odd], NOW)).toBe('verified');
  });
});

it('an SNS message needs the certificate and names its URL', () => {
  const { request, secret } = fixture(preset('aws-sns'));

  expect(snsCertificateUrl(request)).toBe('https://sns.us-west-2.amazonaws.com/SimpleNotificationService-0000.pem');
  expect(verify({ kind: 'sns' }, request, [secret], NOW)).toBe('failed');
  expect(verify({ kind: 'sns' }, request, [secret], NOW, 'no certificate')).toBe('failed');
});

/** Expected deduplication ids, where they differ from the id that was requested for the sample. */
const DEDUPE_IDS: Readonly<Record<string, unknown>> = {
  discord: null, // Only interactions have an id.
  mailgun: expect.stringMatching(/^[0-9a-f]{50}$/),
  trello: `${ID}:5abbe4b7ddc1b351ef961415`,
};

const EVENT_TYPES: Readonly<Record<string, string>> = {
  'standard-webhooks': 'invoice.paid',
  svix: 'user.created',
  resend: 'email.delivered',
  clerk: 'user.updated',
  stripe: 'payment_intent.succeeded',
  paypal: 'PAYMENT.CAPTURE.COMPLETED',
  paddle: 'transaction.completed',
  lemonsqueezy: 'order_created',
  square: 'payment.created',
  adyen: 'AUTHORISATION',
  'adyen-platform': 'balancePlatform.transfer.created',
  github: 'issues.opened',
  gitlab: 'push',
  'gitlab-signed': 'push',
  bitbucket: 'repo:push',
  linear: 'Issue.create',
  trello: 'updateCard',
  asana: 'task.changed',
  slack: 'message',
  discord: 'APPLICATION_AUTHORIZED',
  zoom: 'meeting.started',
  twilio: 'message.received',
  sendgrid: 'delivered',
  mailgun: 'delivered',
  postmark: 'Delivery',
  intercom: 'conversation.user.created',
  meta: 'page.feed',
  whatsapp: 'whatsapp_business_account.messages',
  instagram: 'instagram.comments',
  x: 'tweet_create',
  twitch: 'channel.follow',
  shopify: 'orders/create',
  hubspot: 'contact.creation',
  typeform: 'form_response',
  calendly: 'invitee.created',
  docusign: 'envelope-completed',
  dropbox: 'account.changed',
  'ms-graph': 'created',
  okta: 'user.session.start',
  'aws-sns': 'Notification',
  workos: 'dsync.user.created',
  fusionauth: 'user.create',
  netlify: 'deploy_created',
  pagerduty: 'incident.triggered',
  monday: 'create_pulse',
  mercadopago: 'payment.created',
  zendesk: 'zen:event-type:user.created',
  getstream: 'message.new',
  mux: 'video.asset.ready',
  elevenlabs: 'post_call_transcription',
};
