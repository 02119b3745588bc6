import { bodyHmac, jsonSample, type Preset } from '../preset.js';

/** Presets for mail, telephone and chat. */
export const MESSAGING: readonly Preset[] = [
  {
    id: 'slack',
    title: 'Slack',
    verify: bodyHmac('x-slack-signature', {
      prefix: 'v0=',
      signed: [{ literal: 'v0:' }, 'timestamp', { literal: ':' }, 'body'],
      timestamp: { from: { header: 'x-slack-request-timestamp' }, unit: 's', toleranceSeconds: 300 },
    }),
    secret: 'The signing secret of the app.',
    eventType: [[{ member: 'event.type' }], [{ member: 'type' }], [{ literal: 'command' }, { field: 'command' }]],
    dedupeId: [[{ member: 'event_id' }]],
    response: { type: 'slack-challenge' },
    retry: {
      attempts: 4,
      note: 'Slack waits three seconds and retries three times: at once, after a minute and after five.',
    },
    sample: jsonSample({
      token: 'XXYYZZ',
      team_id: 'T123ABC456',
      api_app_id: 'A123ABC456',
      type: 'event_callback',
      event_id: '{{id}}',
      event_time: '{{seconds}}',
      event: { type: 'message', channel: 'C123ABC456', user: 'U123ABC456', text: 'Hello', ts: '1355517523.000005' },
    }),
  },
  {
    id: 'discord',
    title: 'Discord',
    verify: { kind: 'ed25519', signatureHeader: 'x-signature-ed25519', timestampHeader: 'x-signature-timestamp' },
    secret: 'The public key of the application, in hexadecimal.',
    eventType: [[{ member: 'event.type' }], [{ literal: 'interaction' }, { member: 'type' }]],
    dedupeId: [[{ member: 'id' }]],
    response: { type: 'discord-ping', status: 204 },
    retry: {
      note: 'Discord sends an interaction once and retries a webhook event for up to ten minutes. To test the endpoint, Discord sends bad signatures and expects 401.',
    },
    sample: jsonSample({
      version: 1,
      application_id: '1234560123453231555',
      type: 1,
      event: {
        type: 'APPLICATION_AUTHORIZED',
        timestamp: '{{iso}}',
        data: { user: { id: '1234560123453231556' }, scopes: ['applications.commands'] },
      },
    }),
  },
  {
    id: 'zoom',
    title: 'Zoom',
    // Zoom's own library signs the JSON as it would serialize it, which in rare cases differs from the sent bytes.
    verify: bodyHmac('x-zm-signature', {
      prefix: 'v0=',
      signed: [{ literal: 'v0:' }, 'timestamp', { literal: ':' }, 'body'],
      timestamp: { from: { header: 'x-zm-request-timestamp' }, unit: 'either', toleranceSeconds: 300 },
      alsoReserialized: true,
    }),
    secret: 'The secret token of the app.',
    eventType: [[{ member: 'event' }]],
    dedupeId: [],
    response: { type: 'zoom-challenge' },
    retry: { attempts: 4, note: 'Zoom waits three seconds and retries three times within about two hours.' },
    sample: jsonSample({
      event: 'meeting.started',
      event_ts: '{{millis}}',
      payload: { account_id: 'AAAAAABBBB', object: { id: '1234567890', topic: 'My meeting' } },
    }),
  },
  {
    id: 'twilio',
    title: 'Twilio',
    verify: { kind: 'twilio' },
    secret: 'The auth token of the account.',
    eventType: [
      [{ literal: 'message' }, { field: 'MessageStatus' }],
      [{ literal: 'message' }, { field: 'SmsStatus' }],
      [{ literal: 'call' }, { field: 'CallStatus' }],
      [{ member: 'type' }],
    ],
    dedupeId: [[{ header: 'i-twilio-idempotency-token' }]],
    // Twilio reads the response as TwiML and reports any other content type as an error.
    response: { type: 'static', status: 200, body: '<Response></Response>', headers: { 'content-type': 'text/xml' } },
    retry: {
      attempts: 1,
      note: 'Twilio retries only if the URL contains #rc=…. After a failure, Twilio calls the fallback URL.',
    },
    sample: {
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'i-twilio-idempotency-token': '{{id}}' },
      body:
        'AccountSid=AC00000000000000000000000000000000&ApiVersion=2010-04-01&Body=Hello+there%21&From=%2B15005550006&' +
        'MessageSid=SM00000000000000000000000000000000&NumMedia=0&SmsStatus=received&To=%2B15005550009',
    },
  },
  {
    id: 'sendgrid',
    title: 'SendGrid (event webhook)',
    verify: {
      kind: 'ecdsa',
      signatureHeader: 'x-twilio-email-event-webhook-signature',
      timestampHeader: 'x-twilio-email-event-webhook-timestamp',
    },
    secret: 'The verification key of the event webhook, a public key in base64.',
    eventType: [[{ member: '0.event' }]],
    // No id is used: a request is a batch, and SendGrid may repeat an event in another batch.
    dedupeId: [],
    response: null,
    retry: { note: 'SendGrid retries with growing delays for up to 24 hours.' },
    sample: jsonSample([
      {
        email: 'ada@example.com',
        timestamp: '{{seconds}}',
        event: 'delivered',
        sg_event_id: '{{id}}',
        sg_message_id: '14c5d75ce93.dfd.64b469',
        response: '250 OK',
      },
    ]),
  },
  {
    id: 'mailgun',
    title: 'Mailgun',
    verify: { kind: 'mailgun' },
    secret: 'The HTTP webhook signing key of the account.',
    eventType: [[{ member: 'event-data.event' }], [{ field: 'event' }]],
    // The body is not signed. Mailgun recommends accepting each token only once, to prevent replays.
    dedupeId: [[{ member: 'signature.token' }], [{ field: 'token' }]],
    response: null,
    retry: { attempts: 8, note: 'Mailgun retries for eight hours, unless the response is 406.' },
    sample: jsonSample({
      signature: {},
      'event-data': {
        event: 'delivered',
        id: '{{id}}',
        timestamp: '{{seconds}}',
        recipient: 'ada@example.com',
        'log-level': 'info',
      },
    }),
  },
  {
    id: 'postmark',
    title: 'Postmark',
    verify: { kind: 'basic' },
    secret: 'user:password, the same as in the URL that Postmark calls (https://user:password@…).',
    eventType: [[{ member: 'RecordType' }]],
    dedupeId: [],
    response: null,
    retry: {
      attempts: 11,
      note: 'Postmark retries inbound mail and bounces ten times over about ten hours, unless the response is 403.',
    },
    sample: jsonSample({
      RecordType: 'Delivery',
      ServerID: 23,
      MessageStream: 'outbound',
      MessageID: '00000000-0000-0000-0000-000000000000',
      Recipient: 'ada@example.com',
      DeliveredAt: '{{iso}}',
      Details: 'Test delivery',
    }),
  },
  {
    id: 'intercom',
    title: 'Intercom',
    verify: bodyHmac('x-hub-signature', { hash: 'sha1', prefix: 'sha1=' }),
    secret: 'The client secret of the app.',
    eventType: [[{ member: 'topic' }]],
    dedupeId: [[{ member: 'id' }]],
    urlCheck: ['HEAD', 'GET'],
    response: null,
    retry: { attempts: 2, note: 'Intercom retries once, after a minute.' },
    sample: jsonSample({
      type: 'notification_event',
      id: '{{id}}',
      app_id: 'a86dr8yl',
      topic: 'conversation.user.created',
      created_at: '{{seconds}}',
      data: { type: 'notification_event_data', item: { type: 'conversation', id: '1' } },
    }),
  },
  {
    id: 'zendesk',
    title: 'Zendesk',
    verify: bodyHmac('x-zendesk-webhook-signature', {
      encoding: 'base64',
      signed: ['timestamp', 'body'],
      timestamp: { from: { header: 'x-zendesk-webhook-signature-timestamp' }, unit: 'rfc3339', toleranceSeconds: 300 },
    }),
    secret: 'The signing secret of the webhook. It looks like base64, but is used as the key without decoding.',
    eventType: [[{ member: 'type' }]],
    dedupeId: [[{ header: 'x-zendesk-webhook-invocation-id' }]],
    response: null,
    retry: {
      note: 'Zendesk waits ten seconds, retries a few times after 409, 429, 503 and time-outs, and pauses a webhook with many errors.',
    },
    sample: jsonSample(
      {
        type: 'zen:event-type:user.created',
        account_id: 12514403,
        id: '2b24ef10-19d0-4db0-9b9e-26d2b9e0e2e2',
        time: '{{iso}}',
        zendesk_event_version: '2022-06-20',
        subject: 'zen:user:6596848315901',
        detail: { id: '6596848315901', email: 'ada@example.com', role: 'end-user' },
        event: {},
      },
      { 'x-zendesk-webhook-id': '01F8JZ2FZ0000000000000000', 'x-zendesk-webhook-invocation-id': '{{id}}' },
    ),
  },
  {
    id: 'getstream',
    title: 'Stream (GetStream)',
    // Stream signs the uncompressed body.
    verify: bodyHmac('x-signature', { signed: ['decompressed-body'] }),
    secret: 'The API secret of the app.',
    eventType: [[{ member: 'type' }]],
    dedupeId: [[{ header: 'x-webhook-id' }]],
    response: null,
    retry: { note: 'Stream retries a few times after 5xx and time-outs; X-Webhook-Attempt counts the attempts.' },
    sample: jsonSample(
      {
        type: 'message.new',
        cid: 'messaging:fun',
        created_at: '{{iso}}',
        user: { id: 'ada', name: 'Ada Lovelace' },
        message: { id: 'fff0d7c0-60bd-4835-833b-3843007817bf', text: 'Hello', type: 'regular' },
      },
      { 'x-webhook-id': '{{id}}', 'x-webhook-attempt': '1' },
    ),
  },
];
