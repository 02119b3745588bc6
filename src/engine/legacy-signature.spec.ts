import { createHmac } from 'node:crypto';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import fc from 'fast-check';
import Stripe from 'stripe';
import { unicodeText } from '../../test/support/unicode-text.js';
import { forwardedHeaderFaults } from './headers.js';
import {
  DEFAULT_LEGACY_SCHEME,
  LEGACY_ALGORITHMS,
  LEGACY_ENCODINGS,
  legacyHeaders,
  type LegacyScheme,
  legacySchemeFaults,
} from './legacy-signature.js';

const SECRET = 'an old shared secret, äöü';
const KEY = Buffer.from(SECRET);
const ID = 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';
const BODY = '{"id":"evt_1","object":"event","name":"Zoë"}';
const SECONDS = 1_614_265_330;

const scheme = (fields: Partial<LegacyScheme> = {}): LegacyScheme => ({
  ...DEFAULT_LEGACY_SCHEME,
  header: 'X-Acme-Signature',
  ...fields,
});
const sent = (
  fields: Partial<LegacyScheme>,
  timestamp = SECONDS,
  body: string | Buffer = BODY,
): Record<string, string> => legacyHeaders({ ...scheme(fields), key: KEY }, ID, timestamp, body);

describe('legacyHeaders', () => {
  it('signs only the body by default, with SHA-256 in hex', () => {
    expect(sent({})).toEqual({ 'x-acme-signature': createHmac('sha256', KEY).update(BODY).digest('hex') });
  });

  // GitHub's own example, docs.github.com "Validating webhook deliveries".
  it('matches the published value of GitHub', () => {
    const github = {
      ...scheme({ header: 'X-Hub-Signature-256', format: 'sha256={signature}' }),
      key: Buffer.from("It's a Secret to Everybody"),
    };

    expect(legacyHeaders(github, ID, SECONDS, 'Hello, World!')).toEqual({
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    });
  });

  it("GitHub's verifier accepts it", async () => {
    const { 'x-hub-signature-256': signature = '' } = sent({
      header: 'X-Hub-Signature-256',
      format: 'sha256={signature}',
    });

    expect(await verifyGithub(SECRET, BODY, signature)).toBe(true);
    expect(await verifyGithub(SECRET, `${BODY} `, signature)).toBe(false);
  });

  it("Stripe's verifier accepts it, and rejects another time", () => {
    const now = Math.floor(new Date().getTime() / 1000);
    const fields = {
      header: 'Stripe-Signature',
      content: '{timestamp}.{body}',
      format: 't={timestamp},v1={signature}',
    };
    const { 'stripe-signature': signature = '' } = sent(fields, now);

    const verified = (header: string): unknown => Stripe.webhooks.constructEvent(BODY, header, SECRET);

    expect(verified(signature)).toEqual(JSON.parse(BODY));
    expect(() => verified(signature.replace(`t=${now}`, `t=${now - 1}`))).toThrow('No signatures found');
  });

  // Content that each provider signs, as a template of a legacy scheme.
  it.each<[string, Partial<LegacyScheme>, Record<string, string>]>([
    [
      'Shopify',
      { header: 'X-Shopify-Hmac-Sha256', encoding: 'base64' },
      { 'x-shopify-hmac-sha256': createHmac('sha256', KEY).update(BODY).digest('base64') },
    ],
    [
      'Slack',
      {
        header: 'X-Slack-Signature',
        timestampHeader: 'X-Slack-Request-Timestamp',
        content: 'v0:{timestamp}:{body}',
        format: 'v0={signature}',
      },
      {
        'x-slack-signature': `v0=${createHmac('sha256', KEY).update(`v0:${SECONDS}:${BODY}`).digest('hex')}`,
        'x-slack-request-timestamp': String(SECONDS),
      },
    ],
    [
      'Paddle',
      { header: 'Paddle-Signature', content: '{timestamp}:{body}', format: 'ts={timestamp};h1={signature}' },
      {
        'paddle-signature': `ts=${SECONDS};h1=${createHmac('sha256', KEY).update(`${SECONDS}:${BODY}`).digest('hex')}`,
      },
    ],
    [
      'Twitch',
      {
        header: 'Twitch-Eventsub-Message-Signature',
        idHeader: 'Twitch-Eventsub-Message-Id',
        timestampHeader: 'Twitch-Eventsub-Message-Timestamp',
        content: '{id}{timestamp}{body}',
        format: 'sha256={signature}',
      },
      {
        'twitch-eventsub-message-signature': `sha256=${createHmac('sha256', KEY).update(`${ID}${SECONDS}${BODY}`).digest('hex')}`,
        'twitch-eventsub-message-id': ID,
        'twitch-eventsub-message-timestamp': String(SECONDS),
      },
    ],
    [
      'Trello',
      {
        header: 'X-Trello-Webhook',
        algorithm: 'sha1',
        encoding: 'base64',
        content: '{body}https://example.com/trello',
      },
      {
        'x-trello-webhook': createHmac('sha1', KEY).update(`${BODY}https://example.com/trello`).digest('base64'),
      },
    ],
  ])('signs as %s does', (_vendor, fields, expected) => {
    expect(sent(fields)).toEqual(expected);
  });

  it('signs any bytes, with every hash and encoding, into a valid header value', () => {
    const parts = fc.tuple(
      fc.constantFrom(...LEGACY_ALGORITHMS),
      fc.constantFrom(...LEGACY_ENCODINGS),
      fc.uint8Array(),
    );
    fc.assert(
      fc.property(parts, ([algorithm, encoding, content]) => {
        const body = Buffer.from(content);

        const headers = sent({ algorithm, encoding, content: '{id}\n{timestamp}\n{body}\n' }, 7, body);

        const signed = Buffer.concat([Buffer.from(`${ID}\n7\n`), body, Buffer.from('\n')]);
        expect(headers).toEqual({ 'x-acme-signature': createHmac(algorithm, KEY).update(signed).digest(encoding) });
        expect(forwardedHeaderFaults(headers)).toEqual([]);
      }),
    );
  });

  it('ignores placeholders in the body', () => {
    expect(sent({}, SECONDS, '{timestamp}{body}')).toEqual({
      'x-acme-signature': createHmac('sha256', KEY).update('{timestamp}{body}').digest('hex'),
    });
  });
});

describe('legacySchemeFaults', () => {
  it.each<[string, Partial<LegacyScheme>]>([
    ['the default', {}],
    [
      'everything set',
      {
        algorithm: 'md5',
        encoding: 'base64',
        content: 'a{id}b{timestamp}c{body}d',
        format: 't={timestamp}, i={id}, s={signature} {signature}',
        timestampHeader: 'X-T',
        idHeader: 'X-I',
      },
    ],
    ['non-ASCII text in the signed content', { content: 'ä\n{body}' }],
  ])('finds none in %s', (_what, fields) => {
    expect(legacySchemeFaults(scheme(fields), { 'x-tenant': '42' })).toEqual([]);
  });

  it.each<[string, Partial<LegacyScheme>, string[]]>([
    ['a header that Posthorn sets', { header: 'Webhook-Signature' }, ['header']],
    ['a header of the connection', { header: 'Host' }, ['header']],
    ['an invalid name', { header: 'X Acme' }, ['header']],
    ['a static header', { header: 'x-Tenant' }, ['header']],
    ['the same header twice', { timestampHeader: 'x-acme-SIGNATURE' }, ['timestamp_header']],
    [
      'the same header three times',
      { header: 'X-A', timestampHeader: 'X-A', idHeader: 'X-A' },
      ['timestamp_header', 'id_header'],
    ],
    [
      'an invalid second header',
      { timestampHeader: 'content-length', idHeader: 'a:b' },
      ['timestamp_header', 'id_header'],
    ],
    ['no body', { content: '{timestamp}' }, ['content']],
    ['two bodies', { content: '{body}{body}' }, ['content']],
    ['an unknown placeholder', { content: '{Body}{body}' }, ['content']],
    ['a signature in the signed content', { content: '{body}{signature}' }, ['content']],
    ['a lone brace', { content: '{body}}' }, ['content']],
    ['no signature', { format: 't={timestamp}' }, ['format']],
    ['the body in a header', { format: '{signature}{body}' }, ['format']],
    ['a line break in a header', { format: '{signature}\r\nx-evil: 1' }, ['format']],
    ['a space at the start or end', { format: '{signature} ' }, ['format']],
    ['a non-ASCII character in a header', { format: 'ü{signature}' }, ['format']],
  ])('names %s', (_what, fields, expected) => {
    expect(legacySchemeFaults(scheme(fields), { 'X-Tenant': '42' }).map(({ path }) => path)).toEqual(
      expected.map((field) => `legacy_signature.${field}`),
    );
  });

  it('accepts only valid header values', () => {
    fc.assert(
      fc.property(unicodeText({ maxLength: 200 }), fc.string({ maxLength: 20 }), (format, header) => {
        fc.pre(legacySchemeFaults(scheme({ header, format: `${format}{signature}` }), {}).length === 0);

        expect(forwardedHeaderFaults(sent({ header, format: `${format}{signature}` }))).toEqual([]);
      }),
    );
  });
});
