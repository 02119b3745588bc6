import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import { challenge, type HandshakeContext } from './challenge.js';
import { presetOf } from './presets.js';
import type { ReceivedRequest } from './request.js';
import { RESPONSE_TYPES, type ResponseSettings } from './response.js';
import { verify } from './verify.js';

type Received = Omit<ReceivedRequest, 'ip'>;

const OPEN: HandshakeContext = { verification: 'none', hasSecret: false };
const FORGED: HandshakeContext = { verification: 'failed', hasSecret: true };
const VERIFIED: HandshakeContext = { verification: 'verified', hasSecret: true, secrets: ['s3cret', 'old'] };

function get(query: Record<string, string> = {}, headers: Received['headers'] = []): Received {
  return {
    method: 'GET',
    path: '',
    query: new URLSearchParams(query).toString(),
    url: 'https://in.example.com/',
    headers,
    body: Buffer.alloc(0),
  };
}

function post(json: unknown, headers: Received['headers'] = [], query = ''): Received {
  return {
    method: 'POST',
    path: '',
    query,
    url: 'https://in.example.com/',
    headers,
    body: Buffer.from(JSON.stringify(json)),
  };
}

const plain = (status: number, body: string): object => ({
  answer: {
    status,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  },
});
const json = (value: unknown): object => ({
  answer: {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' },
    body: JSON.stringify(value),
  },
});
const refused = (status: number): object => plain(status, expect.any(String));

const META: ResponseSettings = { type: 'meta-challenge', verifyToken: 'meatyhamhock' };
const meta = (token: string, text = '1158201444'): Received =>
  get({ 'hub.mode': 'subscribe', 'hub.challenge': text, 'hub.verify_token': token });
const SLACK: ResponseSettings = { type: 'slack-challenge' };
const slack = post({
  token: 'Jhj5dZrVaK7ZwHHjRyZWjbDl',
  challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
  type: 'url_verification',
});
const SLACK_CHALLENGE = '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P';
const zoom = post({ event: 'endpoint.url_validation', payload: { plainToken: 'qgg8vlvZRS6UYooatFL8Aw' } });
const EBAY: ResponseSettings = {
  type: 'ebay-challenge',
  verificationToken: '71745723-d031-455c-bfa5-f90d11b4f20a',
  endpointUrl: 'http://www.testendpoint.com/webhook',
};
const TWITCH: ResponseSettings = { type: 'twitch-challenge' };
const twitchBody = {
  challenge: 'pogchamp-kappa-360noscope-vohiyo',
  subscription: { status: 'webhook_callback_verification_pending' },
};
const twitchSignature = createHmac('sha256', 's3cret')
  .update(`id-12019-11-16T10:11:12.634234626Z${JSON.stringify(twitchBody)}`)
  .digest('hex');
const twitch = post(twitchBody, [
  ['twitch-eventsub-message-type', 'webhook_callback_verification'],
  ['twitch-eventsub-message-id', 'id-1'],
  ['twitch-eventsub-message-timestamp', '2019-11-16T10:11:12.634234626Z'],
  ['twitch-eventsub-message-signature', `sha256=${twitchSignature}`],
]);
const hex = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');

describe('challenge', () => {
  it.each<[string, ResponseSettings, Received, HandshakeContext, object | null]>([
    ['meta: the right token', META, meta('meatyhamhock'), FORGED, plain(200, '1158201444')],
    ['meta: a wrong token', META, meta('other'), OPEN, refused(403)],
    ['meta: no token', META, get({ 'hub.mode': 'subscribe', 'hub.challenge': '1' }), OPEN, refused(403)],
    ['meta: no token configured', { type: 'meta-challenge' }, meta(''), OPEN, refused(403)],
    ['meta: no challenge', META, meta('meatyhamhock', ''), OPEN, refused(400)],
    ['meta: another mode', META, get({ 'hub.mode': 'unsubscribe' }), OPEN, null],
    ['meta: an event', META, post({ object: 'page' }), VERIFIED, null],
    ['slack: without a secret', SLACK, slack, OPEN, plain(200, SLACK_CHALLENGE)],
    ['slack: signed', SLACK, slack, VERIFIED, plain(200, SLACK_CHALLENGE)],
    ['slack: signed wrongly', SLACK, slack, FORGED, null],
    [
      'slack: the legacy token',
      { ...SLACK, verificationToken: 'Jhj5dZrVaK7ZwHHjRyZWjbDl' },
      slack,
      OPEN,
      plain(200, SLACK_CHALLENGE),
    ],
    ['slack: a wrong legacy token', { ...SLACK, verificationToken: 'other' }, slack, OPEN, refused(403)],
    ['slack: an event', SLACK, post({ type: 'event_callback' }), VERIFIED, null],
    [
      'zoom: the secret of the settings',
      { type: 'zoom-challenge', secret: 'own' },
      zoom,
      VERIFIED,
      json({ plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken: hex('own', 'qgg8vlvZRS6UYooatFL8Aw') }),
    ],
    [
      "zoom: the endpoint's secret",
      { type: 'zoom-challenge' },
      zoom,
      VERIFIED,
      json({ plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken: hex('s3cret', 'qgg8vlvZRS6UYooatFL8Aw') }),
    ],
    ['zoom: no secret', { type: 'zoom-challenge' }, zoom, OPEN, refused(403)],
    ['zoom: an event', { type: 'zoom-challenge', secret: 'own' }, post({ event: 'meeting.started' }), VERIFIED, null],
    [
      'x: the vector',
      { type: 'x-crc', secret: 'z3ZX4v7mAAUGykl3EcmkqbartmuW8VFOOzCloLx9Q45P0hLrFu' },
      get({ crc_token: '9b4507b3-9040-4669-9ca3-6b94edb50553' }),
      OPEN,
      json({ response_token: 'sha256=Cytd4Sq+NvEcV3MMrXxWJGJx5A+y/lXzzU2Maartkx8=' }),
    ],
    ['x: no secret', { type: 'x-crc' }, get({ crc_token: 'a' }), OPEN, refused(403)],
    ['x: an event', { type: 'x-crc', secret: 'a' }, post({}, [], 'crc_token=a'), OPEN, null],
    [
      'ebay: the vector',
      EBAY,
      get({ challenge_code: 'a8628072-3d33-45ee-9004-bee86830a22d' }),
      OPEN,
      json({ challengeResponse: 'ca527df75caa230092d7e90484071e8f05d63068f1317973d6a3a42593734bbb' }),
    ],
    ['ebay: nothing configured', { type: 'ebay-challenge' }, get({ challenge_code: 'a' }), OPEN, refused(403)],
    ['dropbox', { type: 'dropbox-challenge' }, get({ challenge: 'abc 123' }), FORGED, plain(200, 'abc 123')],
    ['dropbox: too long', { type: 'dropbox-challenge' }, get({ challenge: 'a'.repeat(1025) }), OPEN, refused(400)],
    ['dropbox: a line break', { type: 'dropbox-challenge' }, get({ challenge: 'a\r\nb' }), OPEN, refused(400)],
    ['dropbox: an event', { type: 'dropbox-challenge' }, post({}), OPEN, null],
    [
      'graph',
      { type: 'msgraph-challenge' },
      post('', [], 'validationToken=Validation%3A+Testing+client+application%20Request-Id%3A+5'),
      FORGED,
      plain(200, 'Validation: Testing client application Request-Id: 5'),
    ],
    ['graph: not ASCII', { type: 'msgraph-challenge' }, post('', [], 'validationToken=%C3%A4'), OPEN, refused(400)],
    [
      'okta',
      { type: 'okta-challenge' },
      get({}, [['x-okta-verification-challenge', 'tok"en']]),
      FORGED,
      json({ verification: 'tok"en' }),
    ],
    ['okta: an event', { type: 'okta-challenge' }, post({}, [['authorization', 'x']]), OPEN, null],
    [
      'asana: no secret yet',
      { type: 'asana-handshake' },
      post({}, [['x-hook-secret', 'b537207f20cbfa02357cf448134da559']]),
      OPEN,
      {
        answer: {
          status: 200,
          headers: { 'x-hook-secret': 'b537207f20cbfa02357cf448134da559', 'x-content-type-options': 'nosniff' },
          body: '',
        },
        newSecret: 'b537207f20cbfa02357cf448134da559',
      },
    ],
    [
      'asana: a secret is already set',
      { type: 'asana-handshake' },
      post({}, [['x-hook-secret', 'mine']]),
      FORGED,
      refused(403),
    ],
    [
      'asana: a secret is already set, signed request',
      { type: 'asana-handshake' },
      post({}, [['x-hook-secret', 'mine']]),
      VERIFIED,
      refused(403),
    ],
    ['asana: an event', { type: 'asana-handshake' }, post({ events: [] }), OPEN, null],
    [
      "discord: an interaction's ping",
      { type: 'discord-ping' },
      post({ id: '1', type: 1 }),
      VERIFIED,
      json({ type: 1 }),
    ],
    [
      'discord: the ping of webhook events',
      { type: 'discord-ping' },
      post({ version: 1, type: 0 }),
      VERIFIED,
      { answer: { status: 204, headers: {}, body: '' } },
    ],
    [
      'discord: an event',
      { type: 'discord-ping' },
      post({ version: 1, type: 1, event: { type: 'QUEST_USER_ENROLLMENT' } }),
      VERIFIED,
      null,
    ],
    ['discord: signed wrongly', { type: 'discord-ping' }, post({ type: 1 }), FORGED, null],
    ['discord: not verified', { type: 'discord-ping' }, post({ type: 1 }), OPEN, null],
    ['twitch: without a secret', TWITCH, twitch, OPEN, plain(200, twitchBody.challenge)],
    ['twitch: signed wrongly', TWITCH, twitch, FORGED, null],
    [
      'twitch: signed with the secret of the settings',
      { ...TWITCH, secret: 's3cret' },
      twitch,
      OPEN,
      plain(200, twitchBody.challenge),
    ],
    ['twitch: not signed with the secret of the settings', { ...TWITCH, secret: 'other' }, twitch, OPEN, refused(403)],
    [
      'twitch: an event',
      TWITCH,
      post({ challenge: 'x' }, [['twitch-eventsub-message-type', 'notification']]),
      VERIFIED,
      null,
    ],
    ['static', { type: 'static' }, meta('a'), VERIFIED, null],
  ])('%s', (_title, settings, request, context, expected) => {
    expect(challenge(settings, request, context)).toEqual(expected);
  });

  const sns = (url: string): Received =>
    post({ Type: 'SubscriptionConfirmation', SubscribeURL: url }, [
      ['x-amz-sns-message-type', 'SubscriptionConfirmation'],
    ]);
  const GOOD =
    'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=arn:aws:sns:eu-west-1:123456789012:T&Token=2336412f37';

  it('sns: returns the confirmation URL of a verified message', () => {
    const expected = {
      answer: { status: 200, headers: { 'x-content-type-options': 'nosniff' }, body: '' },
      confirmUrl: GOOD,
    };

    expect(challenge({ type: 'sns-confirm' }, sns(GOOD), VERIFIED)).toEqual(expected);
    expect(challenge({ type: 'sns-confirm' }, sns(GOOD), OPEN)).toBeNull();
    expect(challenge({ type: 'sns-confirm' }, sns(GOOD), FORGED)).toBeNull();
    expect(
      challenge(
        { type: 'sns-confirm' },
        post({ Type: 'Notification', SubscribeURL: GOOD }, sns(GOOD).headers),
        VERIFIED,
      ),
    ).toBeNull();
  });

  it.each([
    'http://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription',
    'https://sns.eu-west-1.amazonaws.com.evil.example/?Action=ConfirmSubscription',
    'https://evil.example/sns.eu-west-1.amazonaws.com?Action=ConfirmSubscription',
    'https://x@sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription',
    'https://sns.eu-west-1.amazonaws.com:8443/?Action=ConfirmSubscription',
    'https://sns.eu-west-1.amazonaws.com/?Action=Unsubscribe',
    'https://s3.eu-west-1.amazonaws.com/?Action=ConfirmSubscription',
    'nonsense',
    '',
  ])('sns: never fetches %s', (url) => {
    expect(challenge({ type: 'sns-confirm' }, sns(url), VERIFIED)).toEqual(refused(400));
  });

  it('never signs a text that could be an event of the same provider', () => {
    const event = '{"tweet_create_events":[]}';
    const x = challenge({ type: 'x-crc', secret: 's3cret' }, get({ crc_token: event }), OPEN);
    const forged = {
      ...post({}, [
        ['x-twitter-webhooks-signature', `sha256=${createHmac('sha256', 's3cret').update(event).digest('base64')}`],
      ]),
      body: Buffer.from(event),
    };
    const plainToken = 'v0:1700000000:{"event":"meeting.started"}';

    expect(verify(presetOf('x')?.verify ?? { kind: 'none' }, forged, ['s3cret'], 0)).toBe('verified');
    expect(x).toEqual(refused(400));
    expect(
      challenge(
        { type: 'zoom-challenge', secret: 's3cret' },
        post({ event: 'endpoint.url_validation', payload: { plainToken } }),
        OPEN,
      ),
    ).toEqual(refused(400));
  });

  it('any request gets an answer of plain text or JSON that no browser executes, with valid headers', () => {
    const names = [
      'hub.mode',
      'hub.challenge',
      'hub.verify_token',
      'crc_token',
      'challenge',
      'challenge_code',
      'validationToken',
    ];
    const query = fc.dictionary(fc.constantFrom(...names), fc.oneof(unicodeText(), fc.constant('subscribe')));
    const members = fc.dictionary(
      fc.constantFrom('type', 'challenge', 'event', 'payload', 'Type'),
      fc.oneof(fc.jsonValue(), fc.constantFrom('url_verification', 1)),
    );
    const headers = fc.array(
      fc.tuple(fc.constantFrom('x-hook-secret', 'x-okta-verification-challenge'), unicodeText()),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...RESPONSE_TYPES),
        query,
        members,
        headers,
        fc.constantFrom('GET', 'POST'),
        (type, fields, body, sent, method) => {
          const request = { ...post(body, sent, new URLSearchParams(fields).toString()), method };
          const result = challenge(
            { type, secret: 'a', verifyToken: '', verificationToken: '', endpointUrl: 'a' },
            request,
            VERIFIED,
          );
          if (result === null) return;
          const { headers: given, body: text } = result.answer;
          expect(text).toMatch(/^[\x20-\x7e]{0,2200}$/);
          expect(text === '' || /^(text\/plain|application\/json)/.test(given['content-type'] ?? '')).toBe(true);
          if (text !== '') expect(given['x-content-type-options']).toBe('nosniff');
          for (const value of Object.values(given)) expect(value).toMatch(/^[\x20-\x7e]{1,1024}$/);
        },
      ),
    );
  });
});
