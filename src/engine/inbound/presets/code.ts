import { bodyHmac, jsonSample, type Preset } from '../preset.js';

const GITLAB_EVENT: Preset['eventType'] = [
  [{ member: 'object_kind' }, { member: 'object_attributes.action', optional: true }],
  [{ member: 'event_name' }],
  [{ header: 'x-gitlab-event' }],
];
const GITLAB_RETRY: Preset['retry'] = {
  attempts: 1,
  note: 'GitLab does not retry, and switches off a webhook for a while after four failures in a row.',
};
const GITLAB_SAMPLE = jsonSample(
  {
    object_kind: 'push',
    event_name: 'push',
    ref: 'refs/heads/main',
    checkout_sha: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
    project: { id: 15, name: 'diaspora' },
    total_commits_count: 1,
  },
  { 'x-gitlab-event': 'Push Hook', 'idempotency-key': '{{id}}' },
);

/** Presets for source code hosts and project trackers. */
export const CODE: readonly Preset[] = [
  {
    id: 'github',
    title: 'GitHub',
    verify: bodyHmac('x-hub-signature-256', { prefix: 'sha256=' }),
    secret: 'The secret of the webhook.',
    eventType: [[{ header: 'x-github-event' }, { member: 'action', optional: true }]],
    dedupeId: [[{ header: 'x-github-delivery' }]],
    response: null,
    retry: { attempts: 1, note: 'GitHub does not retry: redeliver by hand or through its API within three days.' },
    sample: jsonSample(
      {
        action: 'opened',
        issue: { number: 1, title: 'Spelling error' },
        repository: { full_name: 'octocat/Hello-World' },
      },
      { 'x-github-event': 'issues', 'x-github-delivery': '{{id}}', 'user-agent': 'GitHub-Hookshot/044aadd' },
    ),
  },
  {
    id: 'gitlab',
    title: 'GitLab (secret token)',
    verify: { kind: 'token', header: 'x-gitlab-token' },
    secret: 'The secret token of the webhook.',
    eventType: GITLAB_EVENT,
    dedupeId: [[{ header: 'idempotency-key' }]],
    response: null,
    retry: GITLAB_RETRY,
    sample: GITLAB_SAMPLE,
  },
  {
    id: 'gitlab-signed',
    title: 'GitLab (signing token)',
    verify: { kind: 'standard-webhooks', prefixes: ['webhook-'], toleranceSeconds: 300 },
    secret: 'The signing token of the webhook (whsec_…).',
    eventType: GITLAB_EVENT,
    dedupeId: [[{ header: 'webhook-id' }]],
    response: null,
    retry: GITLAB_RETRY,
    sample: GITLAB_SAMPLE,
  },
  {
    id: 'bitbucket',
    title: 'Bitbucket Cloud',
    verify: bodyHmac('x-hub-signature', { prefix: 'sha256=' }),
    secret: 'The secret of the webhook.',
    eventType: [[{ header: 'x-event-key' }]],
    dedupeId: [[{ header: 'x-request-uuid' }]],
    response: null,
    retry: { attempts: 3, note: 'Bitbucket tries up to three times.' },
    sample: jsonSample(
      { push: { changes: [{ new: { type: 'branch', name: 'main' } }] }, repository: { full_name: 'team/repo' } },
      { 'x-event-key': 'repo:push', 'x-request-uuid': '{{id}}', 'x-hook-uuid': 'ab12cd34-0000-4000-8000-000000000000' },
    ),
  },
  {
    id: 'linear',
    title: 'Linear',
    // Checks the time in the body. The time in the header is not signed, and Linear's own library ignores it.
    verify: bodyHmac('linear-signature', {
      timestamp: { from: { member: 'webhookTimestamp' }, unit: 'ms', toleranceSeconds: 60 },
    }),
    secret: 'The signing secret of the webhook.',
    eventType: [[{ member: 'type' }, { member: 'action', optional: true }]],
    dedupeId: [[{ header: 'linear-delivery' }]],
    response: null,
    retry: { attempts: 4, note: 'Linear retries three times: after a minute, an hour and six hours.' },
    sample: jsonSample(
      {
        action: 'create',
        type: 'Issue',
        createdAt: '{{iso}}',
        organizationId: 'dbc6b8a1-0000-4000-8000-000000000000',
        data: { id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9', title: 'A bug' },
        webhookTimestamp: '{{millis}}',
        webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
      },
      { 'linear-delivery': '{{id}}', 'linear-event': 'Issue' },
    ),
  },
  {
    id: 'trello',
    title: 'Trello',
    verify: bodyHmac('x-trello-webhook', { hash: 'sha1', encoding: 'base64', signed: ['body', 'url'] }),
    secret: 'The OAuth secret of the application.',
    eventType: [[{ member: 'action.type' }]],
    // Trello sends an action once for every watched model, each time with other content.
    dedupeId: [[{ member: 'action.id' }, { member: 'model.id', optional: true }]],
    urlCheck: ['HEAD', 'GET'],
    response: null,
    retry: {
      attempts: 4,
      note: 'Trello retries three times: after 30, 60 and 120 seconds. It creates a webhook only when HEAD is answered 200.',
    },
    sample: jsonSample({
      action: {
        id: '{{id}}',
        type: 'updateCard',
        date: '{{iso}}',
        data: { card: { id: '5abbe4b7ddc1b351ef961414', name: 'A card' } },
      },
      model: { id: '5abbe4b7ddc1b351ef961415', name: 'A board' },
    }),
  },
  {
    id: 'asana',
    title: 'Asana',
    verify: bodyHmac('x-hook-signature'),
    secret: 'Asana sends the secret in the handshake, so you need not set one.',
    eventType: [
      [{ member: 'events.0.resource.resource_type' }, { member: 'events.0.action' }],
      [{ member: 'events.0.action' }],
      [{ literal: 'heartbeat' }],
    ],
    dedupeId: [],
    response: { type: 'asana-handshake' },
    retry: { note: 'Asana retries with growing delays for 24 hours, then deletes the webhook.' },
    sample: jsonSample({
      events: [
        {
          user: { gid: '12345', resource_type: 'user' },
          resource: { gid: '1337', resource_type: 'task' },
          action: 'changed',
          created_at: '{{iso}}',
        },
      ],
    }),
  },
  {
    id: 'monday',
    title: 'monday.com',
    verify: {
      kind: 'shared-jwt',
      algorithms: ['HS256'],
      keyEncoding: 'utf8',
      header: 'authorization',
      issuer: null,
      audience: null,
      claims: {},
      bodyHashClaim: null,
      maxAgeSeconds: 300,
    },
    secret: 'The signing secret of the app whose token created the webhook. Other webhooks are not signed.',
    eventType: [[{ member: 'event.type' }]],
    dedupeId: [[{ member: 'event.triggerUuid' }]],
    response: { type: 'monday-challenge' },
    retry: { note: 'monday.com retries once a minute for 30 minutes.' },
    sample: jsonSample({
      event: {
        userId: 9603417,
        boardId: 1771812698,
        pulseId: 1772099344,
        pulseName: 'Create pulse',
        type: 'create_pulse',
        triggerTime: '{{iso}}',
        triggerUuid: '{{id}}',
      },
    }),
  },
];
