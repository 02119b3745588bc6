import { bodyHmac, jsonSample, type Preset } from '../preset.js';

/** Maximum number of keys of a DocuSign account. Each key signs in a separate header. */
const DOCUSIGN_KEYS_MAX = 100;

/** Presets for shops, forms, calendars and documents. */
export const BUSINESS: readonly Preset[] = [
  {
    id: 'shopify',
    title: 'Shopify',
    verify: bodyHmac('x-shopify-hmac-sha256', {
      headers: ['x-shopify-hmac-sha256', 'shopify-hmac-sha256'],
      encoding: 'base64',
    }),
    secret: "The client secret of the app, or the signing secret of the shop's notifications.",
    eventType: [[{ header: 'x-shopify-topic' }], [{ header: 'shopify-topic' }]],
    // Several topics can share an event id, so it is not used. Shopify's webhook id identifies a single delivery.
    dedupeId: [[{ header: 'x-shopify-webhook-id' }], [{ header: 'shopify-webhook-id' }]],
    response: null,
    retry: {
      attempts: 9,
      note: 'Shopify waits five seconds and retries eight times over four hours, then removes the subscription.',
    },
    sample: jsonSample(
      { id: 820982911946, email: 'ada@example.com', total_price: '409.94', currency: 'USD', line_items: [] },
      {
        'x-shopify-topic': 'orders/create',
        'x-shopify-webhook-id': '{{id}}',
        'x-shopify-shop-domain': 'example.myshopify.com',
      },
    ),
  },
  {
    id: 'hubspot',
    title: 'HubSpot',
    verify: bodyHmac('x-hubspot-signature-v3', {
      encoding: 'base64',
      signed: ['method', 'decoded-url', 'body', 'timestamp'],
      timestamp: { from: { header: 'x-hubspot-request-timestamp' }, unit: 'ms', toleranceSeconds: 300 },
    }),
    secret: 'The client secret of the app.',
    eventType: [[{ member: '0.subscriptionType' }]],
    // No id is used: a request is a batch, and HubSpot does not guarantee that the ids in it are unique.
    dedupeId: [],
    response: null,
    retry: { attempts: 11, note: 'HubSpot retries up to ten times over 24 hours.' },
    sample: jsonSample([
      {
        eventId: 1,
        subscriptionId: 12345,
        portalId: 62515,
        appId: 54321,
        occurredAt: '{{millis}}',
        subscriptionType: 'contact.creation',
        attemptNumber: 0,
        objectId: 123,
      },
    ]),
  },
  {
    id: 'typeform',
    title: 'Typeform',
    verify: bodyHmac('typeform-signature', { prefix: 'sha256=', encoding: 'base64' }),
    secret: 'The secret of the webhook.',
    eventType: [[{ member: 'event_type' }]],
    dedupeId: [[{ member: 'event_id' }]],
    response: null,
    retry: { note: 'Typeform retries for about ten hours; 404 and 410 switch the webhook off at once.' },
    sample: jsonSample({
      event_id: '{{id}}',
      event_type: 'form_response',
      form_response: {
        form_id: 'lT4Z3j',
        token: 'a3a12ec67a1365927098a606107fac15',
        submitted_at: '{{iso}}',
        answers: [],
      },
    }),
  },
  {
    id: 'calendly',
    title: 'Calendly',
    verify: bodyHmac('calendly-webhook-signature', {
      list: { separator: ',', signature: 'v1', timestamp: 't' },
      signed: ['timestamp', { literal: '.' }, 'body'],
      timestamp: { from: 'list', unit: 's', toleranceSeconds: 300 },
    }),
    secret: 'The signing key of the webhook subscription.',
    eventType: [[{ member: 'event' }]],
    dedupeId: [],
    response: null,
    retry: { note: 'Calendly retries with growing delays for up to 24 hours, then switches the subscription off.' },
    sample: jsonSample({
      event: 'invitee.created',
      created_at: '{{iso}}',
      created_by: 'https://api.calendly.com/users/AAAAAAAAAAAAAAAA',
      payload: { email: 'ada@example.com', name: 'Ada Lovelace', status: 'active' },
    }),
  },
  {
    id: 'docusign',
    title: 'DocuSign Connect',
    verify: bodyHmac('x-docusign-signature-1', {
      headers: Array.from({ length: DOCUSIGN_KEYS_MAX }, (_, index) => `x-docusign-signature-${index + 1}`),
      encoding: 'base64',
    }),
    secret: 'One of the Connect keys. It looks like base64, but its characters are used as the key without decoding.',
    eventType: [[{ member: 'event' }]],
    dedupeId: [],
    response: null,
    retry: { note: 'DocuSign retries for up to 15 days.' },
    sample: jsonSample({
      event: 'envelope-completed',
      apiVersion: 'v2.1',
      generatedDateTime: '{{iso}}',
      retryCount: 0,
      data: { accountId: '00000000-0000-0000-0000-000000000000', envelopeId: '00000000-0000-0000-0000-000000000001' },
    }),
  },
  {
    id: 'dropbox',
    title: 'Dropbox',
    verify: bodyHmac('x-dropbox-signature'),
    secret: 'The app secret.',
    eventType: [[{ literal: 'account.changed' }]],
    dedupeId: [],
    response: { type: 'dropbox-challenge' },
    retry: { note: 'Dropbox waits ten seconds and retries with growing delays for about ten minutes.' },
    sample: jsonSample({
      list_folder: { accounts: ['dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc'] },
      delta: { users: [12345678] },
    }),
  },
];
