import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import { dedupeIdOf, eventTypeOf } from './classify.js';
import { presetOf, PRESETS } from './presets.js';

type Headers = readonly (readonly [string, string])[];
const request = (body: string, headers: Headers = []) => ({ headers, body: Buffer.from(body) });
const FORM: Headers = [['content-type', 'application/x-www-form-urlencoded']];

describe('eventTypeOf', () => {
  it.each<[string | null, string, Headers, string]>([
    ['github', '{}', [['x-github-event', 'push']], 'push'],
    ['github', '{"action":"opened"}', [], 'webhook.received'],
    ['gitlab', '{"object_kind":"merge_request","object_attributes":{"action":"open"}}', [], 'merge_request.open'],
    ['gitlab', '{}', [['x-gitlab-event', 'Push Hook']], 'Push_Hook'],
    ['slack', 'command=%2Fweather&text=94070', FORM, 'command./weather'],
    ['slack', '{"type":"app_rate_limited"}', [], 'app_rate_limited'],
    ['slack', 'payload=%7B%22type%22%3A%22block_actions%22%7D', FORM, 'block_actions'],
    ['github', 'payload=%7B%22action%22%3A%22opened%22%7D', [...FORM, ['x-github-event', 'issues']], 'issues.opened'],
    [null, 'a=1&payload=%7B%22event%22%3A%22media.play%22%7D&b=2', FORM, 'media.play'],
    [null, 'xpayload=%7B%22type%22%3A%22a%22%7D', FORM, 'webhook.received'],
    [null, 'payload=%7B%22type%22%3A%22a%22%7D', [], 'webhook.received'],
    ['twilio', 'CallSid=1&CallStatus=ringing', FORM, 'call.ringing'],
    ['twilio', 'MessageStatus=delivered&SmsStatus=sent', FORM, 'message.delivered'],
    ['mailgun', 'event=opened', FORM, 'opened'],
    ['meta', '{"object":"page","entry":[{"messaging":[]}]}', [], 'page'],
    ['ms-graph', '{"value":[{"lifecycleEvent":"missed","changeType":"updated"}]}', [], 'missed'],
    ['asana', '{"events":[]}', [], 'heartbeat'],
    ['x', '{"for_user_id":"1","direct_message_events":[]}', [], 'direct_message'],
    ['discord', '{"type":2,"id":"1"}', [], 'interaction.2'],
    ['stripe', '{"type":{"a":1}}', [], 'webhook.received'],
    ['stripe', '{"type":""}', [], 'webhook.received'],
    ['stripe', 'no JSON', [], 'webhook.received'],
    ['stripe', '{"type":"ü <b>"}', [], '___b_'],
    [null, '{"type":"a.b"}', [], 'a.b'],
    [null, '{"event":"a"}', [], 'a'],
    [null, '{"constructor":"a"}', [], 'webhook.received'],
    [null, '', [], 'webhook.received'],
  ])('%s: %s', (id, body, headers, expected) => {
    expect(eventTypeOf(id === null ? null : presetOf(id), request(body, headers))).toBe(expected);
  });

  it('any request gets a short type of the allowed characters, and a printable delivery id or none', () => {
    const bodies = fc.oneof(
      fc.json(),
      unicodeText(),
      fc.string({ minLength: 300, maxLength: 600 }).map((type) => JSON.stringify({ type, id: type })),
    );
    fc.assert(
      fc.property(fc.constantFrom(null, ...PRESETS.values()), bodies, (preset, body) => {
        expect(eventTypeOf(preset, request(body))).toMatch(/^[A-Za-z0-9._:/-]{1,256}$/);
        expect(dedupeIdOf(preset, request(body)) ?? 'a').toMatch(/^[\x20-\x7e]{1,256}$/);
      }),
    );
  });
});

describe('dedupeIdOf', () => {
  it.each<[string | null, string, Headers, string | null]>([
    ['stripe', '{"id":"evt_1"}', [], 'evt_1'],
    ['stripe', '{"id":7}', [], '7'],
    ['stripe', '{"id":"ä"}', [], null],
    ['stripe', JSON.stringify({ id: 'a'.repeat(257) }), [], null],
    ['stripe', '{}', [], null],
    ['svix', '{}', [['webhook-id', 'msg_1']], 'msg_1'],
    ['discord', '{"type":2,"id":"77"}', [], '77'],
    ['mailgun', 'token=abc', FORM, 'abc'],
    [
      'shopify',
      '{}',
      [
        ['x-shopify-event-id', 'shared'],
        ['x-shopify-webhook-id', 'own'],
      ],
      'own',
    ],
    [null, '{"id":"evt_1"}', [['webhook-id', 'msg_1']], null],
  ])('%s: %s', (id, body, headers, expected) => {
    expect(dedupeIdOf(id === null ? null : presetOf(id), request(body, headers))).toBe(expected);
  });
});
