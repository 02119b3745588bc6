import { Buffer } from 'node:buffer';
import { createSign, generateKeyPairSync, sign } from 'node:crypto';
import { EventEmitter } from 'node:events';
import https from 'node:https';
import adyen from '@adyen/api-library';
import { jest } from '@jest/globals';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import * as octokit from '@octokit/webhooks-methods';
import { Environment, Paddle } from '@paddle/paddle-node-sdk';
import sendgrid from '@sendgrid/eventwebhook';
import bolt from '@slack/bolt';
import discord from 'discord-interactions';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import twilio from 'twilio';
import type { Preset } from './preset.js';
import { presetOf } from './presets.js';
import { headerOf, type ReceivedRequest } from './request.js';
import { signedSample, unsignedSample } from './sample.js';
import { verify } from './verify.js';

type Sample = Omit<ReceivedRequest, 'ip'>;

/** Uses the real time, because the providers' libraries use the real clock. */
const NOW = Date.now();
const SECONDS = Math.floor(NOW / 1000);
const URL_CALLED = 'https://in.example.com/in/acme/hooks';
const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ADYEN_KEY = '44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056';

function preset(id: string): Preset {
  const found = presetOf(id);
  if (found === null) throw new Error(id);
  return found;
}

function ours(
  id: string,
  secret: string,
  url = URL_CALLED,
): Sample & { text: string; header: (name: string) => string } {
  const sample = signedSample(preset(id), { secret, url, id: 'msg_1', nowMs: NOW });
  if (sample === null) throw new Error(`${id} has no signed sample`);
  return { ...sample, text: sample.body.toString(), header: (name) => headerOf(sample, name) ?? '' };
}

function theirs(id: string, secret: string, headers: Record<string, string>, body: string, url = URL_CALLED): string {
  const request = {
    method: 'POST',
    path: '',
    query: '',
    url,
    headers: Object.entries(headers),
    body: Buffer.from(body),
  };
  return verify(preset(id).verify, request, [secret], NOW);
}

const BODY = '{"type":"a.b","name":"Zoë \\u00e9 \u2028 😀","n":1.50}';

describe('Standard Webhooks', () => {
  it('Posthorn accepts signatures of standardwebhooks and svix', () => {
    const date = new Date(SECONDS * 1000);
    const standard = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(SECONDS),
      'webhook-signature': new StandardWebhook(WHSEC).sign('msg_1', date, BODY),
    };
    const svix = {
      'svix-id': 'msg_1',
      'svix-timestamp': String(SECONDS),
      'svix-signature': new SvixWebhook(WHSEC).sign('msg_1', date, BODY),
    };

    expect(theirs('standard-webhooks', WHSEC, standard, BODY)).toBe('verified');
    expect(theirs('gitlab-signed', WHSEC, standard, BODY)).toBe('verified');
    expect(theirs('standard-webhooks', WHSEC, standard, `${BODY} `)).toBe('failed');
    for (const id of ['svix', 'resend', 'clerk']) {
      expect(theirs(id, WHSEC, svix, BODY)).toBe('verified');
      expect(theirs(id, WHSEC, standard, BODY)).toBe('verified');
    }
  });

  it.each([
    ['standard-webhooks', StandardWebhook],
    ['svix', SvixWebhook],
    ['resend', SvixWebhook],
    ['clerk', SvixWebhook],
  ] as const)("%s: the provider's library accepts Posthorn's sample", (id, Webhook) => {
    const sample = ours(id, WHSEC);

    expect(new Webhook(WHSEC).verify(sample.text, Object.fromEntries(sample.headers))).toEqual(JSON.parse(sample.text));
  });
});

describe('Stripe', () => {
  const { webhooks } = new Stripe('sk_test_1');
  const secret = 'whsec_not+base64';

  it("Posthorn accepts signatures of Stripe's library, and the library accepts Posthorn's sample", () => {
    const header = webhooks.generateTestHeaderString({ payload: BODY, secret, timestamp: SECONDS });
    const sample = ours('stripe', secret);

    expect(theirs('stripe', secret, { 'stripe-signature': header }, BODY)).toBe('verified');
    expect(theirs('stripe', secret, { 'stripe-signature': `${header},v0=00,v1=${'0'.repeat(64)}` }, BODY)).toBe(
      'verified',
    );
    expect(theirs('stripe', secret, { 'stripe-signature': header.replace('v1=', 'v0=') }, BODY)).toBe('failed');
    expect(webhooks.constructEvent(sample.text, sample.header('stripe-signature'), secret).id).toBe('msg_1');
  });

  it("accepts a time in the future and rejects an old one, like Stripe's library", () => {
    const at = (timestamp: number): string => webhooks.generateTestHeaderString({ payload: BODY, secret, timestamp });

    expect(theirs('stripe', secret, { 'stripe-signature': at(SECONDS + 4000) }, BODY)).toBe('verified');
    expect(theirs('stripe', secret, { 'stripe-signature': at(SECONDS - 301) }, BODY)).toBe('failed');
    expect(webhooks.constructEvent(BODY, at(SECONDS + 4000), secret)).toBeTruthy();
    expect(() => webhooks.constructEvent(BODY, at(SECONDS - 302), secret)).toThrow(/Timestamp/);
  });
});

describe('GitHub', () => {
  it("Posthorn accepts signatures of @octokit/webhooks-methods, and the library accepts Posthorn's sample", async () => {
    const sample = ours('github', 's3cret');

    expect(theirs('github', 's3cret', { 'x-hub-signature-256': await octokit.sign('s3cret', BODY) }, BODY)).toBe(
      'verified',
    );
    await expect(octokit.verify('s3cret', sample.text, sample.header('x-hub-signature-256'))).resolves.toBe(true);
  });

  it("accepts the vector of GitHub's documentation", () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';

    expect(theirs('github', "It's a Secret to Everybody", { 'x-hub-signature-256': signature }, 'Hello, World!')).toBe(
      'verified',
    );
  });
});

it("Slack: @slack/bolt accepts Posthorn's sample, and Posthorn accepts the vector of Slack's documentation", () => {
  const sample = ours('slack', 's3cret');
  const headers = { 'x-slack-signature': sample.header('x-slack-signature'), 'x-slack-request-timestamp': SECONDS };
  const documented = {
    method: 'POST',
    path: '',
    query: '',
    url: URL_CALLED,
    headers: [
      ['x-slack-signature', 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503'],
      ['x-slack-request-timestamp', '1531420618'],
    ] as const,
    body: Buffer.from(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
        '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands' +
        '%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    ),
  };

  expect(bolt.isValidSlackRequest({ signingSecret: 's3cret', body: sample.text, headers })).toBe(true);
  expect(bolt.isValidSlackRequest({ signingSecret: 'other', body: sample.text, headers })).toBe(false);
  expect(verify(preset('slack').verify, documented, ['8f742231b10e8888abcd99yyyzzz85a5'], 1531420618_000)).toBe(
    'verified',
  );
});

describe('Twilio', () => {
  const params = { To: '+15005550009', Body: 'Hi & bye äß', Tag: ['b', 'a', 'b'], From: '+15005550006', Empty: '' };
  const form = new URLSearchParams(
    Object.entries(params).flatMap(([name, value]) => [value].flat().map((text) => [name, text])),
  ).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

  it.each([
    [URL_CALLED, URL_CALLED],
    [URL_CALLED, 'https://in.example.com:443/in/acme/hooks'],
    ['https://in.example.com:8443/in/acme/hooks', URL_CALLED],
    [`${URL_CALLED}?name=O'Neil`, `${URL_CALLED}?name=O'Neil`],
    [`${URL_CALLED}?name=O'Neil`, `${URL_CALLED}?name=O%27Neil`],
    [`${URL_CALLED}?name=O Neil`, 'https://in.example.com:443/in/acme/hooks?name=O Neil'],
    [`${URL_CALLED}?q=a%20b`, `${URL_CALLED}?q=a%20b`],
    [`${URL_CALLED}?q=a+b`, `${URL_CALLED}?q=a%20b`],
    ['http://in.example.com/x', 'http://in.example.com:80/x'],
    ['http://in.example.com/x', 'http://in.example.com:443/x'],
    [URL_CALLED, `${URL_CALLED}/`],
  ])("called at %s, signed for %s: same result as Twilio's library", (called, signed) => {
    const signature = twilio.getExpectedTwilioSignature('token', signed, params);
    const verdict = twilio.validateRequest('token', signature, called, params) ? 'verified' : 'failed';

    expect(theirs('twilio', 'token', { ...type, 'x-twilio-signature': signature }, form, called)).toBe(verdict);
  });

  it("Twilio's library accepts Posthorn's sample", () => {
    const sample = ours('twilio', 'token');
    const fields = Object.fromEntries(new URLSearchParams(sample.text));

    expect(twilio.validateRequest('token', sample.header('x-twilio-signature'), URL_CALLED, fields)).toBe(true);
  });

  it('a JSON body must be covered by its hash in the URL', () => {
    const url = `${URL_CALLED}?bodySHA256=${twilio.getExpectedBodyHash(BODY)}`;
    const headers = {
      'content-type': 'application/json',
      'x-twilio-signature': twilio.getExpectedTwilioSignature('token', url, {}),
    };
    const unhashed = { ...headers, 'x-twilio-signature': twilio.getExpectedTwilioSignature('token', URL_CALLED, {}) };

    expect(twilio.validateRequestWithBody('token', headers['x-twilio-signature'], url, BODY)).toBe(true);
    expect(theirs('twilio', 'token', headers, BODY, url)).toBe('verified');
    expect(theirs('twilio', 'token', headers, `${BODY} `, url)).toBe('failed');
    expect(theirs('twilio', 'token', unhashed, BODY)).toBe('failed');
    expect(theirs('twilio', 'token', unhashed, '')).toBe('verified');
  });
});

it("Linear: the provider's library accepts Posthorn's sample", () => {
  const sample = ours('linear', 's3cret');

  expect(new LinearWebhookClient('s3cret').verify(sample.body, sample.header('linear-signature'))).toBe(true);
  expect(() => new LinearWebhookClient('other').verify(sample.body, sample.header('linear-signature'))).toThrow();
});

it("Paddle: the provider's library accepts Posthorn's sample", async () => {
  const paddle = new Paddle('key', { environment: Environment.sandbox });
  // Signed here and not when the file is loaded: Paddle accepts a signature for only five seconds.
  const sample = signedSample(preset('paddle'), {
    secret: 's3cret',
    url: URL_CALLED,
    id: 'ntf_1',
    nowMs: Date.now(),
  }) as Sample;
  const header = headerOf(sample, 'paddle-signature') ?? '';

  await expect(paddle.webhooks.isSignatureValid(sample.body.toString(), 's3cret', header)).resolves.toBe(true);
  await expect(paddle.webhooks.isSignatureValid(sample.body.toString(), 'other', header)).resolves.toBe(false);
});

describe('Adyen', () => {
  const validator = new adyen.hmacValidator();

  it("payments: Posthorn accepts every signed item of Adyen's library, and the library accepts Posthorn's sample", () => {
    const item = {
      pspReference: '7914073381342284',
      originalReference: '',
      merchantAccountCode: 'TestMerchant',
      merchantReference: 'a:b\\c',
      amount: { value: 1130, currency: 'EUR' },
      eventCode: 'AUTHORISATION',
      success: 'true',
      eventDate: '2019-05-06T17:15:34.121+02:00',
      paymentMethod: 'visa',
    };
    const signed = { ...item, additionalData: { hmacSignature: validator.calculateHmac(item as never, ADYEN_KEY) } };
    const body = (...items: unknown[]): string =>
      JSON.stringify({ notificationItems: items.map((each) => ({ NotificationRequestItem: each })) });
    const sample = ours('adyen', ADYEN_KEY);

    expect(theirs('adyen', ADYEN_KEY, {}, body(signed, signed))).toBe('verified');
    expect(theirs('adyen', ADYEN_KEY, {}, body(signed, { ...signed, success: 'false' }))).toBe('failed');
    expect(theirs('adyen', ADYEN_KEY, {}, body(signed, item))).toBe('failed');
    expect(theirs('adyen', ADYEN_KEY, {}, body())).toBe('failed');
    expect(
      validator.validateHMAC(JSON.parse(sample.text).notificationItems[0].NotificationRequestItem, ADYEN_KEY),
    ).toBe(true);
  });

  it("platforms: the provider's library accepts Posthorn's sample", () => {
    const sample = ours('adyen-platform', ADYEN_KEY);

    expect(validator.validateHMACSignature(ADYEN_KEY, sample.header('hmacsignature'), sample.text)).toBe(true);
  });
});

describe('signatures with keys of this test, because only the provider has the real keys', () => {
  const stamped = Buffer.from(`${SECONDS}${BODY}`);

  it("Discord: same results as the provider's library", async () => {
    const keys = generateKeyPairSync('ed25519');
    const publicKey = keys.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
    const signature = sign(null, stamped, keys.privateKey).toString('hex');
    const headers = { 'x-signature-ed25519': signature, 'x-signature-timestamp': String(SECONDS) };

    await expect(discord.verifyKey(BODY, signature, String(SECONDS), publicKey)).resolves.toBe(true);
    expect(theirs('discord', publicKey, headers, BODY)).toBe('verified');
    expect(theirs('discord', publicKey, { ...headers, 'x-signature-timestamp': String(SECONDS + 1) }, BODY)).toBe(
      'failed',
    );
  });

  it("SendGrid: same results as the provider's library", () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicKey = keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
    const signature = createSign('sha256').update(stamped).sign(keys.privateKey).toString('base64');
    const headers = {
      'x-twilio-email-event-webhook-signature': signature,
      'x-twilio-email-event-webhook-timestamp': String(SECONDS),
    };
    const theirKey = new sendgrid.EventWebhook().convertPublicKeyToECDSA(publicKey);

    expect(new sendgrid.EventWebhook().verifySignature(theirKey, BODY, signature, String(SECONDS))).toBe(true);
    expect(theirs('sendgrid', publicKey, headers, BODY)).toBe('verified');
    expect(theirs('sendgrid', publicKey, headers, `${BODY} `)).toBe('failed');
  });

  describe('Amazon SNS', () => {
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const certificate = keys.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    const topic = 'arn:aws:sns:us-west-2:123456789012:MyTopic';
    const base = JSON.parse(
      unsignedSample(preset('aws-sns'), { secret: topic, url: URL_CALLED, id: 'm-1', nowMs: NOW }).body.toString(),
    );
    const confirmation = {
      ...base,
      Type: 'SubscriptionConfirmation',
      Subject: undefined,
      Token: '2336412f37',
      SubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription',
    };

    it.each([
      ['Notification', '1', base, ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']],
      ['Notification', '2', { ...base, Subject: undefined }, ['Message', 'MessageId', 'Timestamp', 'TopicArn', 'Type']],
      [
        'SubscriptionConfirmation',
        '2',
        confirmation,
        ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
      ],
    ])('%s, version %s: same results as sns-validator', async (_type, version, fields, names) => {
      const message: Record<string, string> = { ...fields, SignatureVersion: version };
      const signer = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256');
      for (const name of names) signer.update(`${name}\n${message[name]}\n`);
      message.Signature = signer.sign(keys.privateKey).toString('base64');
      message.SigningCertURL = `https://sns.us-west-2.amazonaws.com/cert-${version}.pem`;
      const request = {
        method: 'POST',
        path: '',
        query: '',
        url: URL_CALLED,
        headers: [],
        body: Buffer.from(JSON.stringify(message)),
      };

      await expect(validatedBySns(request.body.toString(), certificate)).resolves.toMatchObject({ MessageId: 'm-1' });
      expect(verify({ kind: 'sns' }, request, [topic], NOW, certificate)).toBe('verified');
      expect(verify({ kind: 'sns' }, request, [`${topic}2`], NOW, certificate)).toBe('failed');
    });
  });
});

/** Runs AWS's own validator. It fetches the certificate, which this test provides from memory. */
async function validatedBySns(text: string, certificate: string): Promise<unknown> {
  const name = 'sns-validator';
  const { default: Validator } = await import(name);
  const fetched = jest.spyOn(https, 'get').mockImplementation(((_url: string, answer: (response: unknown) => void) => {
    const response = Object.assign(new EventEmitter(), { statusCode: 200 });
    queueMicrotask(() => {
      answer(response);
      response.emit('data', certificate);
      response.emit('end');
    });
    return new EventEmitter();
  }) as never);
  try {
    return await new Promise((resolve, reject) => {
      new Validator().validate(text, (error: unknown, message: unknown) => (error ? reject(error) : resolve(message)));
    });
  } finally {
    fetched.mockRestore();
  }
}
