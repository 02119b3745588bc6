import { bodyHmac, jsonSample, type Preset } from '../preset.js';

const META: Pick<Preset, 'verify' | 'secret' | 'dedupeId' | 'response'> = {
  verify: bodyHmac('x-hub-signature-256', { prefix: 'sha256=' }),
  secret: 'The app secret.',
  // A request is a batch of changes and has no id.
  dedupeId: [],
  response: { type: 'meta-challenge' },
};
const META_EVENT: Preset['eventType'] = [
  [{ member: 'object' }, { member: 'entry.0.changes.0.field' }],
  [{ member: 'object' }],
];

export const SOCIAL: readonly Preset[] = [
  {
    ...META,
    id: 'meta',
    title: 'Meta (Facebook, Messenger)',
    eventType: META_EVENT,
    retry: { note: 'Meta retries at once and then at growing intervals for 36 hours.' },
    sample: jsonSample({
      object: 'page',
      entry: [
        {
          id: '0',
          time: '{{seconds}}',
          changes: [{ field: 'feed', value: { item: 'status', verb: 'add', post_id: '44444444_444444444' } }],
        },
      ],
    }),
  },
  {
    ...META,
    id: 'whatsapp',
    title: 'WhatsApp Business',
    eventType: META_EVENT,
    retry: { note: 'Meta retries WhatsApp webhooks for up to seven days.' },
    sample: jsonSample({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: '0',
          changes: [
            {
              field: 'messages',
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: '16505551111', phone_number_id: '123456123' },
                messages: [
                  {
                    from: '16315551181',
                    id: 'ABGGFlA5Fpa',
                    timestamp: '1504902988',
                    type: 'text',
                    text: { body: 'Hello' },
                  },
                ],
              },
            },
          ],
        },
      ],
    }),
  },
  {
    ...META,
    id: 'instagram',
    title: 'Instagram',
    eventType: META_EVENT,
    retry: { note: 'Meta retries at once and then at growing intervals for 36 hours.' },
    sample: jsonSample({
      object: 'instagram',
      entry: [
        {
          id: '0',
          time: '{{seconds}}',
          changes: [{ field: 'comments', value: { id: '17865799348089039', text: 'Nice' } }],
        },
      ],
    }),
  },
  {
    id: 'x',
    title: 'X (Twitter)',
    verify: bodyHmac('x-twitter-webhooks-signature', { prefix: 'sha256=', encoding: 'base64' }),
    secret: 'The consumer secret (API secret key) of the app.',
    eventType: [[{ nameEnding: '_events' }]],
    dedupeId: [],
    response: { type: 'x-crc' },
    retry: { note: 'X retries for a few minutes, and marks a webhook as invalid if it fails the hourly check.' },
    sample: jsonSample({
      for_user_id: '2244994945',
      tweet_create_events: [
        { id_str: '1050118621198921728', created_at: 'Wed Oct 10 20:19:24 +0000 2018', text: 'Hello' },
      ],
    }),
  },
  {
    id: 'twitch',
    title: 'Twitch EventSub',
    verify: bodyHmac('twitch-eventsub-message-signature', {
      prefix: 'sha256=',
      signed: [{ header: 'twitch-eventsub-message-id' }, 'timestamp', 'body'],
      timestamp: { from: { header: 'twitch-eventsub-message-timestamp' }, unit: 'rfc3339', toleranceSeconds: 600 },
    }),
    secret: 'The secret that the subscription was created with.',
    eventType: [[{ header: 'twitch-eventsub-subscription-type' }], [{ member: 'subscription.type' }]],
    dedupeId: [[{ header: 'twitch-eventsub-message-id' }]],
    response: { type: 'twitch-challenge' },
    retry: { note: 'Twitch retries a few times, and revokes a subscription that fails too often.' },
    sample: jsonSample(
      {
        subscription: {
          id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4',
          status: 'enabled',
          type: 'channel.follow',
          version: '2',
        },
        event: { user_id: '1337', user_login: 'awesome_user', broadcaster_user_id: '12826' },
      },
      {
        'twitch-eventsub-message-id': '{{id}}',
        'twitch-eventsub-message-type': 'notification',
        'twitch-eventsub-subscription-type': 'channel.follow',
        'twitch-eventsub-subscription-version': '2',
      },
    ),
  },
];
