import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { failureReason } from './failure-reason.js';
import { presetOf } from './presets.js';
import type { Scheme } from './scheme.js';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const WHSEC = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const schemeOf = (preset: string): Scheme => presetOf(preset)?.verify ?? { kind: 'none' };

function reason(preset: string, headers: Record<string, string>, { secrets = ['s3cret'], body = '{}' } = {}): string {
  const request = {
    method: 'POST',
    path: '',
    query: '',
    url: 'https://in.example.com/in/acme/x',
    headers: Object.entries(headers),
    body: Buffer.from(body),
  };
  return failureReason(schemeOf(preset), request, { secrets, nowMs: NOW });
}

const stripe = (seconds: number, secret = 's3cret'): Record<string, string> => ({
  'stripe-signature': Stripe.webhooks.generateTestHeaderString({
    payload: '{}',
    secret,
    timestamp: NOW / 1000 + seconds,
  }),
});
const standard = (seconds: number): Record<string, string> => {
  const date = new Date(NOW + seconds * 1000);
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(date.getTime() / 1000),
    'webhook-signature': new Webhook(WHSEC).sign('msg_1', date, '{}'),
  };
};
const slack = (seconds: number): Record<string, string> => {
  const at = String(NOW / 1000 + seconds);
  return {
    'x-slack-request-timestamp': at,
    'x-slack-signature': `v0=${createHmac('sha256', 's3cret').update(`v0:${at}:{}`).digest('hex')}`,
  };
};

describe('failureReason', () => {
  it.each<[string, string, Record<string, string>, { secrets?: string[]; body?: string }, string]>([
    ['no secret', 'stripe', stripe(0), { secrets: [] }, 'the endpoint has no secret yet'],
    ['no signature', 'github', {}, {}, 'the header x-hub-signature-256 is missing'],
    ['an empty signature', 'github', { 'x-hub-signature-256': '' }, {}, 'the header x-hub-signature-256 is missing'],
    ['no timestamp', 'slack', { 'x-slack-signature': 'v0=00' }, {}, 'the header x-slack-request-timestamp is missing'],
    [
      'no id',
      'standard-webhooks',
      { 'webhook-signature': 'v1,a', 'webhook-timestamp': '1' },
      {},
      'the header webhook-id is missing',
    ],
    ['nothing of svix', 'svix', {}, {}, 'the header svix-signature is missing'],
    ['no token', 'gitlab', {}, {}, 'the header x-gitlab-token is missing'],
    ['no user', 'postmark', {}, {}, 'the header authorization is missing'],
    [
      "too old (Stripe's own library)",
      'stripe',
      stripe(-301),
      {},
      'it is right, but too old: its time may differ from now by at most 300 seconds',
    ],
    [
      'too old (the library of Standard Webhooks)',
      'standard-webhooks',
      standard(-301),
      { secrets: [WHSEC] },
      'it is right, but too old: its time may differ from now by at most 300 seconds',
    ],
    [
      'from the future (the library of Standard Webhooks)',
      'standard-webhooks',
      standard(301),
      { secrets: [WHSEC] },
      'it is right, but from the future: its time may differ from now by at most 300 seconds',
    ],
    [
      'from the future',
      'slack',
      slack(301),
      {},
      'it is right, but from the future: its time may differ from now by at most 300 seconds',
    ],
    ['old and wrong', 'stripe', stripe(-301, 'other'), {}, 'it is wrong, or made with another secret'],
    ['another secret', 'stripe', stripe(0, 'other'), {}, 'it is wrong, or made with another secret'],
    ['another body', 'stripe', stripe(0), { body: '{} ' }, 'it is wrong, or made with another secret'],
    ['another token', 'gitlab', { 'x-gitlab-token': 'x' }, {}, "the token is not the endpoint's secret"],
    [
      'Mailgun fields missing',
      'mailgun',
      {},
      {},
      'the body has no timestamp, token and signature that belong together',
    ],
  ])('%s', (_what, preset, headers, more, expected) => {
    expect(reason(preset, headers, more)).toBe(expected);
  });
});
