import { jsonSample, type Preset } from '../preset.js';
import type { StandardScheme } from '../scheme.js';

const TOLERANCE_SECONDS = 300;
const SVIX: StandardScheme = {
  kind: 'standard-webhooks',
  prefixes: ['svix-', 'webhook-'],
  toleranceSeconds: TOLERANCE_SECONDS,
};
const SVIX_RETRY: Preset['retry'] = {
  attempts: 8,
  note: 'Svix tries 8 times over about 28 hours and switches off an endpoint that fails for 5 days.',
};
const SVIX_ID: Preset['dedupeId'] = [[{ header: 'svix-id' }], [{ header: 'webhook-id' }]];
const TYPE: Preset['eventType'] = [[{ member: 'type' }], [{ member: 'eventType' }]];

/** Presets for Standard Webhooks, and for providers that send through Svix. */
export const STANDARD: readonly Preset[] = [
  {
    id: 'standard-webhooks',
    title: 'Standard Webhooks',
    verify: { kind: 'standard-webhooks', prefixes: ['webhook-'], toleranceSeconds: TOLERANCE_SECONDS },
    secret: 'The signing secret (whsec_…) or the public key (whpk_…).',
    eventType: TYPE,
    dedupeId: [[{ header: 'webhook-id' }]],
    response: null,
    retry: { note: 'The specification recommends retrying for days; 410 switches the endpoint off.' },
    sample: jsonSample({
      type: 'invoice.paid',
      timestamp: '{{iso}}',
      data: { id: 'inv_1', amount: 4200, currency: 'eur' },
    }),
  },
  {
    id: 'svix',
    title: 'Svix',
    verify: SVIX,
    secret: 'The signing secret of the endpoint (whsec_…).',
    eventType: TYPE,
    dedupeId: SVIX_ID,
    response: null,
    retry: SVIX_RETRY,
    sample: jsonSample({ type: 'user.created', data: { id: 'user_1', email: 'ada@example.com' } }),
  },
  {
    id: 'resend',
    title: 'Resend',
    verify: SVIX,
    secret: 'The signing secret of the webhook (whsec_…).',
    eventType: TYPE,
    dedupeId: SVIX_ID,
    response: null,
    retry: SVIX_RETRY,
    sample: jsonSample({
      type: 'email.delivered',
      created_at: '{{iso}}',
      data: {
        email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
        from: 'Acme <hello@example.com>',
        to: ['ada@example.com'],
        subject: 'Hello',
      },
    }),
  },
  {
    id: 'clerk',
    title: 'Clerk',
    verify: SVIX,
    secret: 'The signing secret of the endpoint (whsec_…).',
    eventType: TYPE,
    dedupeId: SVIX_ID,
    response: null,
    retry: SVIX_RETRY,
    sample: jsonSample({
      object: 'event',
      type: 'user.updated',
      timestamp: '{{millis}}',
      data: { id: 'user_29w83sxmDNGwOuEthce5gg56FcC', first_name: 'Ada' },
    }),
  },
];
