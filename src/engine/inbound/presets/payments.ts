import { bodyHmac, jsonSample, type Preset } from '../preset.js';

const ACCEPTED: Preset['response'] = {
  type: 'static',
  status: 200,
  body: '[accepted]',
  headers: { 'content-type': 'text/plain' },
};
const ADYEN_RETRY: Preset['retry'] = {
  note: 'Adyen tries three times at once, then with growing delays for up to 30 days.',
};

export const PAYMENTS: readonly Preset[] = [
  {
    id: 'stripe',
    title: 'Stripe',
    // Accepts times in the future, and uses the whole secret with its prefix `whsec_` as the key, because Stripe's own
    // library does both.
    verify: bodyHmac('stripe-signature', {
      list: { separator: ',', signature: 'v1', timestamp: 't' },
      signed: ['timestamp', { literal: '.' }, 'body'],
      timestamp: { from: 'list', unit: 's', toleranceSeconds: 300, ageOnly: true },
    }),
    secret: 'The signing secret of the endpoint (whsec_…).',
    eventType: [[{ member: 'type' }]],
    dedupeId: [[{ member: 'id' }]],
    response: null,
    retry: { note: 'Stripe retries for up to three days in live mode, with growing delays.' },
    sample: jsonSample({
      id: '{{id}}',
      object: 'event',
      type: 'payment_intent.succeeded',
      created: '{{seconds}}',
      livemode: false,
      data: {
        object: {
          id: 'pi_3MtwBwLkdIwHu7ix28a3tqPa',
          object: 'payment_intent',
          amount: 2000,
          currency: 'usd',
          status: 'succeeded',
        },
      },
    }),
  },
  {
    id: 'paddle',
    title: 'Paddle',
    verify: bodyHmac('paddle-signature', {
      list: { separator: ';', signature: 'h1', timestamp: 'ts' },
      signed: ['timestamp', { literal: ':' }, 'body'],
      timestamp: { from: 'list', unit: 's', toleranceSeconds: 5, ageOnly: true },
    }),
    secret: 'The secret key of the notification destination (pdl_ntfset_…).',
    eventType: [[{ member: 'event_type' }]],
    // The event id is not used: a replay from Paddle's dashboard has the same event id, but must be delivered.
    dedupeId: [[{ member: 'notification_id' }]],
    response: null,
    retry: { attempts: 60, note: 'Paddle tries 60 times over three days in live mode, three times in the sandbox.' },
    sample: jsonSample({
      event_id: 'evt_01h8bzakzx3hm2fmen703n5q45',
      event_type: 'transaction.completed',
      occurred_at: '{{iso}}',
      notification_id: '{{id}}',
      data: { id: 'txn_01h8bxpvx398a7zbawb77y0kp5', status: 'completed', currency_code: 'USD' },
    }),
  },
  {
    id: 'lemonsqueezy',
    title: 'Lemon Squeezy',
    verify: bodyHmac('x-signature'),
    secret: 'The signing secret of the webhook.',
    eventType: [[{ header: 'x-event-name' }], [{ member: 'meta.event_name' }]],
    dedupeId: [],
    response: null,
    retry: { attempts: 4, note: 'Lemon Squeezy retries up to three times, within minutes.' },
    sample: jsonSample(
      {
        meta: { event_name: 'order_created', test_mode: true },
        data: { type: 'orders', id: '1', attributes: { total: 999, currency: 'USD' } },
      },
      { 'x-event-name': 'order_created' },
    ),
  },
  {
    id: 'square',
    title: 'Square',
    verify: bodyHmac('x-square-hmacsha256-signature', { encoding: 'base64', signed: ['url', 'body'] }),
    secret: 'The signature key of the webhook subscription.',
    eventType: [[{ member: 'type' }]],
    dedupeId: [[{ member: 'event_id' }]],
    response: null,
    retry: { attempts: 12, note: 'Square retries up to 11 times over 24 hours.' },
    sample: jsonSample({
      merchant_id: '6SSW7HV8K2ST5',
      type: 'payment.created',
      event_id: '{{id}}',
      created_at: '{{iso}}',
      data: { type: 'payment', id: 'hYy9pRFVxpDsO1FB05SunFWUe9JZY', object: { payment: { status: 'APPROVED' } } },
    }),
  },
  {
    id: 'paypal',
    title: 'PayPal',
    verify: { kind: 'paypal' },
    secret: 'The id of the webhook. PayPal signs this id with the key of its own certificate.',
    eventType: [[{ member: 'event_type' }]],
    dedupeId: [[{ member: 'id' }]],
    response: null,
    retry: { attempts: 26, note: 'PayPal retries up to 25 times over three days.' },
    sample: jsonSample({
      id: '{{id}}',
      event_version: '1.0',
      create_time: '{{iso}}',
      resource_type: 'capture',
      event_type: 'PAYMENT.CAPTURE.COMPLETED',
      resource: { id: '42311647XV020574X', amount: { currency_code: 'USD', value: '10.00' }, status: 'COMPLETED' },
    }),
  },
  {
    id: 'adyen',
    title: 'Adyen (payments)',
    verify: { kind: 'adyen' },
    secret: 'The HMAC key of the standard webhook, in hexadecimal.',
    eventType: [[{ member: 'notificationItems.0.NotificationRequestItem.eventCode' }]],
    // No id is used: Adyen sends updates with the same pspReference and eventCode, and receivers must use the newest.
    dedupeId: [],
    response: ACCEPTED,
    retry: ADYEN_RETRY,
    sample: jsonSample({
      live: 'false',
      notificationItems: [
        {
          NotificationRequestItem: {
            additionalData: {},
            amount: { currency: 'EUR', value: 1130 },
            eventCode: 'AUTHORISATION',
            eventDate: '{{iso}}',
            merchantAccountCode: 'TestMerchant',
            merchantReference: 'TestPayment-1407325143704',
            originalReference: '',
            pspReference: '7914073381342284',
            success: 'true',
          },
        },
      ],
    }),
  },
  {
    id: 'adyen-platform',
    title: 'Adyen (platforms and management)',
    verify: bodyHmac('hmacsignature', { encoding: 'base64', keyEncoding: 'hex' }),
    secret: 'The HMAC key of the webhook, in hexadecimal.',
    eventType: [[{ member: 'type' }]],
    dedupeId: [],
    response: ACCEPTED,
    retry: ADYEN_RETRY,
    sample: jsonSample(
      {
        type: 'balancePlatform.transfer.created',
        environment: 'test',
        data: { id: '{{id}}', status: 'received', balancePlatform: 'Example' },
      },
      { protocol: 'HmacSHA256' },
    ),
  },
  {
    id: 'mercadopago',
    title: 'Mercado Pago',
    // Mercado Pago signs the id in the query, not the body. Parts that are missing from the notification are not
    // signed.
    verify: bodyHmac('x-signature', {
      list: { separator: ',', signature: 'v1', timestamp: 'ts' },
      signed: [
        { before: 'id:', value: { query: 'data.id', isLowerCased: true }, after: ';' },
        { before: 'request-id:', value: { header: 'x-request-id' }, after: ';' },
        { literal: 'ts:' },
        'timestamp',
        { literal: ';' },
      ],
      timestamp: { from: 'list', unit: 'either', toleranceSeconds: null },
    }),
    secret: 'The secret signature of the application (Webhooks > Configure notifications).',
    eventType: [[{ member: 'action' }], [{ member: 'type' }]],
    dedupeId: [[{ member: 'id' }]],
    response: null,
    retry: { attempts: 6, note: 'Mercado Pago waits 22 seconds and retries five times over four days.' },
    sample: {
      ...jsonSample(
        {
          id: '{{id}}',
          live_mode: false,
          type: 'payment',
          date_created: '{{iso}}',
          user_id: '44444',
          api_version: 'v1',
          action: 'payment.created',
          data: { id: '999999999' },
        },
        { 'x-request-id': '{{id}}' },
      ),
      query: 'data.id=999999999&type=payment',
    },
  },
];
