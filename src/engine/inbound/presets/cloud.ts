import { jsonSample, type Preset } from '../preset.js';

/** Presets for platforms and identity providers. */
export const CLOUD: readonly Preset[] = [
  {
    id: 'ms-graph',
    title: 'Microsoft Graph',
    verify: { kind: 'client-state' },
    secret: 'The clientState that the subscription was created with.',
    eventType: [[{ member: 'value.0.lifecycleEvent' }], [{ member: 'value.0.changeType' }]],
    // A request is a batch of events, so no single id identifies it.
    dedupeId: [],
    response: { type: 'msgraph-challenge' },
    retry: { note: 'Microsoft Graph waits ten seconds and retries for up to four hours.' },
    sample: jsonSample({
      value: [
        {
          subscriptionId: '7f105c7d-2dc5-4530-97cd-4e7ae6534c07',
          changeType: 'created',
          clientState: '{{secret}}',
          tenantId: '84bd8158-6d4d-4958-8b9f-9d6445542f95',
          resource: 'users/1/messages/2',
          resourceData: { '@odata.type': '#Microsoft.Graph.Message', id: '2' },
        },
      ],
    }),
  },
  {
    id: 'okta',
    title: 'Okta event hooks',
    verify: { kind: 'token', header: 'authorization' },
    secret: 'The authentication secret of the event hook, sent as the whole Authorization header.',
    eventType: [[{ member: 'data.events.0.eventType' }], [{ member: 'eventType' }]],
    dedupeId: [[{ member: 'eventId' }]],
    response: { type: 'okta-challenge' },
    retry: { attempts: 2, note: 'Okta waits three seconds and retries once.' },
    sample: jsonSample({
      eventType: 'com.okta.event_hook',
      eventTypeVersion: '1.0',
      eventId: '{{id}}',
      eventTime: '{{iso}}',
      source: 'https://example.okta.com/api/v1/eventHooks/who1',
      data: {
        events: [
          {
            uuid: 'b5a188b9-5ae8-11e9-b6d2-3d8e6f1e6b5e',
            eventType: 'user.session.start',
            displayMessage: 'User login to Okta',
          },
        ],
      },
    }),
  },
  {
    id: 'aws-sns',
    title: 'Amazon SNS',
    verify: { kind: 'sns' },
    secret: 'The ARN of the topic: the signature alone proves only that some AWS account sent the message.',
    eventType: [[{ member: 'Type' }], [{ header: 'x-amz-sns-message-type' }]],
    dedupeId: [[{ member: 'MessageId' }]],
    response: { type: 'sns-confirm' },
    retry: { note: 'SNS retries by the delivery policy of the topic, for an hour at most.' },
    sample: jsonSample(
      {
        Type: 'Notification',
        MessageId: '{{id}}',
        TopicArn: '{{secret}}',
        Subject: 'My First Message',
        Message: 'Hello world!',
        Timestamp: '{{iso}}',
        SignatureVersion: '2',
        Signature: '',
        SigningCertURL: 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-0000.pem',
      },
      { 'x-amz-sns-message-type': 'Notification', 'content-type': 'text/plain; charset=UTF-8' },
    ),
  },
];
