import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { failureReason } from './failure-reason.js';
import { genericScheme, type GenericSchemeName, type GenericSettings } from './generic.js';
import { presetOf } from './presets.js';
import type { Scheme } from './scheme.js';
import { verify } from './verify.js';

interface Vector {
  headers: Record<string, string>;
  body?: string | Buffer;
  query?: string;
  secret?: string;
  now: string | number;
}

const request = ({ headers, body = '', query = '' }: Vector) => ({
  method: 'POST',
  path: '',
  query,
  url: `https://in.example.com/in/acme/x?${query}`,
  headers: Object.entries(headers),
  body: Buffer.from(body),
});

const verdict = (scheme: Scheme, vector: Vector): string =>
  verify(scheme, request(vector), [vector.secret ?? 's3cret'], new Date(vector.now).getTime());

const reason = (scheme: Scheme, vector: Vector): string =>
  failureReason(scheme, request(vector), {
    secrets: [vector.secret ?? 's3cret'],
    nowMs: new Date(vector.now).getTime(),
  });

const preset = (id: string): Scheme => presetOf(id)?.verify ?? { kind: 'none' };

const PAGERDUTY = {
  // From webhookv3_test.go of github.com/PagerDuty/go-pagerduty.
  secret: 'lDQHScfUeXUKaQRNF+8XIiDKZ7XX3itBAYzwU0TARw8lJqRnkKl2iB1anSb0Z+IK',
  body: '{"event":{"id":"01BWDWL3NYY7LUFPZCC28QUCMK","event_type":"incident.priority_updated","resource_type":"incident","occurred_at":"2021-04-26T17:36:27.458Z","agent":{"html_url":"https://acme.pagerduty.com/users/PLH1HKV","id":"PLH1HKV","self":"https://api.pagerduty.com/users/PLH1HKV","summary":"Tenex Engineer","type":"user_reference"},"client":null,"data":{"id":"PGR0VU2","type":"incident","self":"https://api.pagerduty.com/incidents/PGR0VU2","html_url":"https://acme.pagerduty.com/incidents/PGR0VU2","number":2,"status":"triggered","title":"A little bump in the road","service":{"html_url":"https://acme.pagerduty.com/services/PF9KMXH","id":"PF9KMXH","self":"https://api.pagerduty.com/services/PF9KMXH","summary":"API Service","type":"service_reference"},"assignees":[{"html_url":"https://acme.pagerduty.com/users/PTUXL6G","id":"PTUXL6G","self":"https://api.pagerduty.com/users/PTUXL6G","summary":"User 123","type":"user_reference"}],"escalation_policy":{"html_url":"https://acme.pagerduty.com/escalation_policies/PUS0KTE","id":"PUS0KTE","self":"https://api.pagerduty.com/escalation_policies/PUS0KTE","summary":"Default","type":"escalation_policy_reference"},"teams":[{"html_url":"https://acme.pagerduty.com/teams/PFCVPS0","id":"PFCVPS0","self":"https://api.pagerduty.com/teams/PFCVPS0","summary":"Engineering","type":"team_reference"}],"priority":{"html_url":"https://acme.pagerduty.com/account/incident_priorities","id":"PSO75BM","self":"https://api.pagerduty.com/priorities/PSO75BM","summary":"P1","type":"priority_reference"},"urgency":"high","conference_bridge":{"conference_number":1000,"conference_url":"https://example.com"},"resolve_reason":null}}}',
  now: 0,
};
const PAGERDUTY_SIGNATURE = 'v1=0c0b9495b893a39e70d1fea2fe11fbe0a825f88b9f67846f6cc07dd2bc5476cd';
const OTHER = `v1=${'0'.repeat(64)}`;

/** From the tests of Mux's libraries for Node, Ruby and Elixir. */
const MUX: Vector = {
  headers: {
    'mux-signature': 't=1565125718,v1=854ece4c22acef7c66b57d4e504153bc512595e8e9c772ece2a68150548c19a7',
  },
  body: '{"test":"body"}',
  secret: 'SuperSecret123',
  now: 1565125718_000,
};

/** Made with computeSignature of @workos-inc/node 8.13, accepted by its constructEvent. */
const WORKOS: Vector = {
  headers: {
    'workos-signature': 't=1795348800000, v1=9955a1c7a274fcf8ce2bbff9ad3c760dec7e2a069013f178ed21c492af248911',
  },
  body: '{"id":"wh_123","event":"dsync.user.created","data":{"id":"directory_user_01FAEAJCR3ZBZ30D8BD1924TVG","object":"directory_user","emails":[],"raw_attributes":{}}}',
  secret: 'secret',
  now: 1795348800_000,
};

/** Accepted by constructEvent of @elevenlabs/elevenlabs-js 2.73. */
const ELEVENLABS: Vector = {
  headers: {
    'elevenlabs-signature': 't=1795348800,v0=1a324b518ba188266a5a8fb82ba3e3b75dd68ea08ddd3c38f5fde30a3d2d85da',
  },
  body: '{"type":"post_call_transcription","event_timestamp":1763812800,"data":{"conversation_id":"abc"}}',
  secret: 'wsec_s3cret',
  now: 1795348800_000,
};

/** Accepted by the WebhookSignatureValidator of mercadopago 3.6. */
const MERCADOPAGO: Vector = {
  headers: {
    'x-signature': 'ts=1742505638683,v1=b453b68803436c7fad6be8191a9bacbff496117e91b487377530af95fd3567bf',
    'x-request-id': 'f7b2a1d4-0b1c-4ec2-aaaa-9e8b1d2f3c4d',
  },
  query: 'data.id=999999999&type=payment',
  now: 1742505638683,
};
/**
 * Accepted by WebhookSignatureValidator without a request id. As documented, an id with letters is signed in lower
 * case.
 */
const MERCADOPAGO_ORDER: Vector = {
  headers: { 'x-signature': 'ts=1742505638683,v1=223d153b374908b0d8f6430c8bce036b59659504831cd2528230c15cf392ae8c' },
  query: 'data.id=ORD01JQ4S4KY8HWQ6NA5PXB65B3D3&type=order',
  now: 1742505638683,
};

/** Made with jsonwebtoken 9, as documented by Netlify. */
const NETLIFY: Vector = {
  headers: {
    'x-webhook-signature':
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJuZXRsaWZ5Iiwic2hhMjU2IjoiODA2MWJlMWYxY2ZlOWQwMjQ2MTE2OGNhMGU5YjE5Mjg5NTUzOWJkMjAzODg3NDQzY2Y1Njc5ZjVlNDUzMDdlYyJ9.P-m7VxeRtfOxBLH6AddDzpTNwmZF5Ig1SJEMON82964',
  },
  body: '{"id":"5e2f","state":"ready"}',
  now: '2026-11-22T12:00:00.000Z',
};

/** Made with jsonwebtoken 9 from the claims in monday.com's documentation. */
const MONDAY: Vector = {
  headers: {
    authorization:
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJhY2NvdW50SWQiOjE4MjU1MjksInVzZXJJZCI6NDAxMjY4OSwiYXVkIjoiaHR0cHM6Ly93d3cueW91cnNlcnZlci5jb20vZW5kcG9pbnQiLCJleHAiOjE2MDY4MDg3NTgsInNob3J0TGl2ZWRUb2tlbiI6IlNIT1JUX0xJVkVEX1RPS0VOX0hFUkUiLCJpYXQiOjE2MDY4MDg0NTh9.bI55VDSVavhedrtE-2N4STSXfJABf7QCq1V6wqlgojw',
  },
  now: 1606808460_000,
};

/** The tokens were created with jose 6. They contain the claim `request_body_sha256` that FusionAuth documents. */
const fusionauth = (token: string): Vector => ({
  headers: { 'x-fusionauth-signature-jwt': token },
  body: '{"event":{"type":"user.create"}}',
  secret: 's3cret-s3cret-s3cret-s3cret-s3cret-s3cret-s3cret-s3cret-s3cret-s3',
  now: '2026-11-22T12:00:00.000Z',
});
const FUSIONAUTH_CLAIMS =
  'eyJyZXF1ZXN0X2JvZHlfc2hhMjU2IjoiSnBHc1p5cUdOMk5sM0F2MFplNjlPUHVBRVZvQktaMjUyM1I1L0JuM0NvYz0ifQ';
const FUSIONAUTH: Record<string, Vector> = {
  HS256: fusionauth(
    `eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.${FUSIONAUTH_CLAIMS}.CbioxZ2tOnv4C9hvauJ31FjPLCsX-t8V6l3mEMRofyc`,
  ),
  HS384: fusionauth(
    `eyJhbGciOiJIUzM4NCIsImtpZCI6ImsxIn0.${FUSIONAUTH_CLAIMS}.MjKyUx86859_7OzrUUSWzD14HeU1qh59XpWjuI-GtqHt6A74ahSYbnRvXE5ayJOr`,
  ),
  HS512: fusionauth(
    `eyJhbGciOiJIUzUxMiIsImtpZCI6ImsxIn0.${FUSIONAUTH_CLAIMS}.YtNAeZ4OC4vHANivWf4CR3JIeE3TzZj_3CeXLmvOuOerBDLzjLtaZAzm8ucLKZANw0S1mHYaBI6YYFsw_jHekQ`,
  ),
};

/** Accepted by verifyAndParseWebhook of stream-chat 9.53. */
const STREAM: Vector = {
  headers: {
    'x-signature': 'e8751a93df129dea03e07bcac933d6dad00db76b9d44487d0a678fccc5f82194',
    'content-encoding': 'gzip',
  },
  body: Buffer.from('H4sIAAAAAAAAA6tWKqksSFWyUspNLS5OTE/Vy0stV9JRSs5MgYtl5qVbpZXmKdUCAKF/1VUsAAAA', 'base64'),
  now: 0,
};

/** Made with the function in Zendesk's documentation, and the secret of its test requests. */
const ZENDESK: Vector = {
  headers: {
    'x-zendesk-webhook-signature': 'f4l5hjQlFiXWGzuPBM3oJOfWpSoS07+1xLqpfO3jIfM=',
    'x-zendesk-webhook-signature-timestamp': '2026-11-22T12:00:00Z',
  },
  body: '{"say": "hello"}',
  secret: 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==',
  now: '2026-11-22T12:00:00.000Z',
};

describe('the preset verifies a request of its provider', () => {
  it.each<[string, Vector]>([
    ['mux', MUX],
    ['workos', WORKOS],
    ['elevenlabs', ELEVENLABS],
    ['mercadopago', MERCADOPAGO],
    ['mercadopago', MERCADOPAGO_ORDER],
    ['pagerduty', { ...PAGERDUTY, headers: { 'x-pagerduty-signature': PAGERDUTY_SIGNATURE } }],
    ['pagerduty', { ...PAGERDUTY, headers: { 'x-pagerduty-signature': `${OTHER},${PAGERDUTY_SIGNATURE}` } }],
    ['netlify', NETLIFY],
    ['monday', MONDAY],
    ...Object.values(FUSIONAUTH).map((vector): [string, Vector] => ['fusionauth', vector]),
    ['getstream', STREAM],
    [
      'getstream',
      {
        ...STREAM,
        headers: { 'x-signature': STREAM.headers['x-signature'] ?? '' },
        body: '{"type":"message.new","cid":"messaging:fun"}',
      },
    ],
    ['zendesk', ZENDESK],
  ])('%s', (id, vector) => {
    expect(verdict(preset(id), vector)).toBe('verified');
    expect(verdict(preset(id), { ...vector, secret: 'another' })).toBe('failed');
    if (!['mercadopago', 'monday'].includes(id)) expect(verdict(preset(id), { ...vector, body: '{}' })).toBe('failed');
  });

  it('mercadopago: a signature without an id proves no notification that repeats the id', () => {
    const mac = createHmac('sha256', 's3cret').update('ts:1742505638683;').digest('hex');
    const vector: Vector = { headers: { 'x-signature': `ts=1742505638683,v1=${mac}` }, now: 1742505638683 };

    expect(verdict(preset('mercadopago'), vector)).toBe('verified');
    expect(verdict(preset('mercadopago'), { ...vector, query: 'data.id=1&data.id=2' })).toBe('failed');
  });

  it('zendesk: the time is signed before the body (test of github.com/aaronellington/zendesk-go)', () => {
    const scheme = genericScheme('hmac-sha256', {
      header: 'X-Zendesk-Webhook-Signature',
      encoding: 'base64',
      timestampHeader: 'X-Zendesk-Webhook-Signature-Timestamp',
      signed: '{{timestamp}}{{body}}',
    });
    const vector: Vector = {
      headers: {
        'x-zendesk-webhook-signature': '10IqYzYTLHRftNsNE+im0DeOM6/JactIRuy0XCHJ9B8=',
        'x-zendesk-webhook-signature-timestamp': '1234',
      },
      body: '{\n\t"type": "zen:event-type:user.group_membership_created",\n\t"account_id": 12514403,\n\t"id": "6b9bbadf-5725-4e92-bebe-7b71011bf5f1",\n\t"subject": "zen:user:6596848315901",\n\t"time": "2099-07-04T05:33:18Z",\n\t"zendesk_event_version": "2022-06-20",\n\t"detail": {\n\t\t"created_at": "2099-07-04T05:27:58Z",\n\t\t"default_group_id": "0",\n\t\t"email": "user.name@example.com",\n\t\t"external_id": "",\n\t\t"id": "6596848315901",\n\t\t"organization_id": "0",\n\t\t"role": "end-user",\n\t\t"updated_at": "2099-07-04T05:33:18Z"\n\t},\n\t"event": { "group": { "id": "1" } }\n}\n',
      secret: 'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==',
      now: 1234_000,
    };

    expect(verdict(scheme, vector)).toBe('verified');
  });
});

describe('without a preset, the settings express the same', () => {
  const composite = (header: string, signatureField: string, timestampField: string): GenericSettings => ({
    header,
    signatureField,
    timestampField,
  });

  it.each<[string, GenericSchemeName, GenericSettings, Vector]>([
    ['Mux', 'hmac-sha256', composite('Mux-Signature', 'v1', 't'), MUX],
    ['WorkOS, with a space after the comma', 'hmac-sha256', composite('WorkOS-Signature', 'v1', 't'), WORKOS],
    ['ElevenLabs', 'hmac-sha256', composite('ElevenLabs-Signature', 'v0', 't'), ELEVENLABS],
    [
      'Mercado Pago',
      'hmac-sha256',
      {
        ...composite('x-signature', 'v1', 'ts'),
        signed: 'id:{{query.data.id}};request-id:{{headers.x-request-id}};ts:{{timestamp}};',
      },
      MERCADOPAGO,
    ],
    [
      'PagerDuty',
      'hmac-sha256',
      { header: 'X-PagerDuty-Signature', signatureField: 'v1' },
      { ...PAGERDUTY, headers: { 'x-pagerduty-signature': `${OTHER},${PAGERDUTY_SIGNATURE}` } },
    ],
    [
      'a list of signatures without names',
      'hmac-sha256',
      { separator: ' ', prefix: 'v1=' },
      { ...PAGERDUTY, headers: { 'x-signature': `${OTHER} ${PAGERDUTY_SIGNATURE}` } },
    ],
    ['Netlify', 'jwt-hs256', { header: 'X-Webhook-Signature', issuer: 'netlify', bodyHashClaim: 'sha256' }, NETLIFY],
    ['monday.com', 'jwt-hs256', { audience: 'https://www.yourserver.com/endpoint' }, MONDAY],
    [
      'FusionAuth',
      'jwt-hs512',
      { header: 'X-FusionAuth-Signature-JWT', bodyHashClaim: 'request_body_sha256' },
      FUSIONAUTH['HS512'] as Vector,
    ],
    ['Stream', 'hmac-sha256', { signed: '{{decompressedBody}}' }, STREAM],
    [
      'Zendesk',
      'hmac-sha256',
      {
        header: 'X-Zendesk-Webhook-Signature',
        timestampHeader: 'X-Zendesk-Webhook-Signature-Timestamp',
        signed: '{{timestamp}}{{body}}',
      },
      ZENDESK,
    ],
  ])('%s', (_title, name, settings, vector) => {
    expect(verdict(genericScheme(name, settings), vector)).toBe('verified');
    expect(verdict(genericScheme(name, settings), { ...vector, secret: 'another' })).toBe('failed');
  });
});

describe('failureReason', () => {
  const withHeader = (vector: Vector, name: string, value: string): Vector => ({
    ...vector,
    headers: { ...vector.headers, [name]: value },
  });
  const mux = (value: string): Vector => withHeader(MUX, 'mux-signature', value);
  const [, muxHex = ''] = (MUX.headers['mux-signature'] ?? '').split('v1=');
  const netlify = (value: string): Vector => withHeader(NETLIFY, 'x-webhook-signature', value);
  const [, netlifyClaims, netlifySignature] = (NETLIFY.headers['x-webhook-signature'] ?? '').split('.');
  const alg = (name: unknown): string => Buffer.from(JSON.stringify({ alg: name })).toString('base64url');

  it.each<[string, string, Vector, string]>([
    ['no time', 'mux', mux(`v1=${muxHex}`), 'the header mux-signature has no part t=…'],
    ['an unknown version', 'mux', mux(`t=1565125718,v2=${muxHex}`), 'the header mux-signature has no part v1=…'],
    [
      'a time that is no number',
      'mux',
      mux(`t=soon,v1=${muxHex}`),
      'the time in part t of the header mux-signature is not a whole number of seconds',
    ],
    ['no hex', 'mux', mux('t=1565125718,v1=zz'), 'the signature in the header mux-signature is not 32 bytes in hex'],
    ['another body', 'mux', { ...MUX, body: '{}' }, 'it is wrong, or made with another secret'],
    [
      'old',
      'mux',
      { ...MUX, now: 1565126019_000 },
      'it is right, but too old: its time may differ from now by at most 300 seconds',
    ],
    [
      'full-width digits',
      'workos',
      withHeader(WORKOS, 'workos-signature', 't=１７９５３４８８００,v1=00'),
      'the time in part t of the header workos-signature is not a whole number of milliseconds',
    ],
    [
      'an epoch instead of a date',
      'zendesk',
      withHeader(ZENDESK, 'x-zendesk-webhook-signature-timestamp', '1795348800'),
      'the time in the header x-zendesk-webhook-signature-timestamp is not a date and time with an offset (RFC 3339)',
    ],
    [
      'no time in the body',
      'linear',
      { headers: { 'linear-signature': '00'.repeat(32) }, body: '{}', now: 0 },
      'the body has no webhookTimestamp',
    ],
    [
      'no prefix',
      'github',
      { headers: { 'x-hub-signature-256': '00'.repeat(32) }, now: 0 },
      'the signature in the header x-hub-signature-256 does not begin with sha256=',
    ],
    [
      'a bomb',
      'getstream',
      { ...STREAM, body: gzipSync(Buffer.alloc(64 * 1024 * 1024)) },
      'the body cannot be decompressed, or is too large when decompressed',
    ],
    [
      'an id that imitates another part',
      'mercadopago',
      { ...MERCADOPAGO, query: 'data.id=999999999;request-id:f7b2a1d4-0b1c-4ec2-aaaa-9e8b1d2f3c4d' },
      'the query parameter data.id, which is signed, is missing, repeated or invalid',
    ],
    [
      'a time that is no number (Standard Webhooks)',
      'svix',
      { headers: { 'svix-id': '1', 'svix-timestamp': 'now', 'svix-signature': 'v1,a' }, now: 0 },
      'the time in the header svix-timestamp is not a whole number of seconds',
    ],
    [
      'an unknown version (Standard Webhooks)',
      'svix',
      { headers: { 'svix-id': '1', 'svix-timestamp': '0', 'svix-signature': 'v3,a' }, now: 0 },
      'the header svix-signature has no signature of version v1 or v1a',
    ],
    [
      'no token',
      'netlify',
      netlify('s3cret'),
      'the header x-webhook-signature holds no JSON Web Token of at most 8192 characters',
    ],
    [
      'alg none',
      'netlify',
      netlify(`${alg('none')}.${netlifyClaims}.AA`),
      'the algorithm of the token is none, and only HS256 can be used',
    ],
    [
      'alg of a public key',
      'netlify',
      netlify(`${alg('RS256')}.${netlifyClaims}.${netlifySignature}`),
      'the algorithm of the token is RS256, and only HS256 can be used',
    ],
    [
      'an alg that is no name',
      'netlify',
      netlify(`${alg('<script>')}.${netlifyClaims}.AA`),
      'the algorithm of the token is unknown, and only HS256 can be used',
    ],
    [
      'another secret',
      'netlify',
      { ...NETLIFY, secret: 'x' },
      "the token is wrong, or not signed with the endpoint's secret",
    ],
    [
      'another body',
      'netlify',
      { ...NETLIFY, body: '{}' },
      'the claim sha256 of the token is not the SHA-256 of this body',
    ],
    ['an old token', 'monday', { ...MONDAY, now: 1606809758_000 }, 'the token has expired'],
  ])('%s (%s)', (_what, id, vector, expected) => {
    expect(verdict(preset(id), vector)).toBe('failed');
    expect(reason(preset(id), vector)).toBe(expected);
  });
});
