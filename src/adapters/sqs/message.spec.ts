import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { DEFAULT_FORWARDING } from '#engine/inbound/forwarded-url.js';
import { DEFAULT_LEGACY_SCHEME } from '#engine/legacy-signature.js';
import { DEFAULT_RETRY_POLICY } from '#engine/retry.js';
import type { Outgoing, Target } from '#modules/destinations/contract.js';
import { unicodeText } from '../../../test/support/unicode-text.js';
import { BYTES_MAX, messageOf, type QueueMessage } from './message.js';

const KEY = Buffer.alloc(32, 1);
const STANDARD = { isFifo: false, messageGroupId: null };
const FIFO = { isFifo: true, messageGroupId: null };

const OUTGOING: Outgoing = {
  request: () => Promise.resolve(null),
  webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  eventType: 'invoice.paid',
  body: '{"test": 2432232314}',
  headers: null,
  requestLine: null,
  replayed: false,
  traceparent: null,
  atMs: 1_614_265_330_999,
  mayBegin: () => true,
};

const TARGET: Target = {
  environmentId: 1,
  targetId: '0190f0a0-0000-0000-0000-000000000001',
  destinationId: '0190f0a0-0000-0000-0000-000000000001',
  ownerId: null,
  type: 'sqs',
  url: null,
  config: {},
  credentials: null,
  status: 'active',
  disabledReason: null,
  signingKeys: [KEY],
  privateKeys: [],
  legacySignature: null,
  forward: DEFAULT_FORWARDING,
  headers: {},
  retry: DEFAULT_RETRY_POLICY,
  ratePerSecond: null,
  concurrency: null,
  timeoutMs: 1_234,
  failureThreshold: 10,
};

function sent(
  outgoing: Partial<Outgoing> = {},
  target: Partial<Target> = {},
  settings: Parameters<typeof messageOf>[2] = STANDARD,
): QueueMessage {
  const message = messageOf({ ...OUTGOING, ...outgoing }, { ...TARGET, ...target }, settings);
  if ('refusal' in message) throw new Error(message.refusal);
  return message;
}

const namesOf = (message: QueueMessage): string[] => Object.keys(message.attributes);
const valueOf = ({ attributes }: QueueMessage, name: string): string | undefined => attributes[name]?.StringValue;
const numbered = (prefix: string, count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, `v${index}`]));

describe('messageOf: attributes', () => {
  it('contain the verification headers and the event type, and no HTTP headers', () => {
    const message = sent();

    expect(namesOf(message)).toEqual(['webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-event-type']);
    expect(valueOf(message, 'webhook-id')).toBe(OUTGOING.webhookId);
    expect(valueOf(message, 'webhook-timestamp')).toBe('1614265330');
    expect(valueOf(message, 'webhook-event-type')).toBe('invoice.paid');
    expect(message.attributes['webhook-id']?.DataType).toBe('String');
  });

  it('mark a replay, and contain the trace and the content type of a received event', () => {
    const message = sent({ replayed: true, traceparent: '00-a-b-01', headers: { 'content-type': 'text/csv' } });

    expect(namesOf(message).slice(4)).toEqual(['webhook-replayed', 'traceparent', 'content-type']);
    expect(valueOf(message, 'content-type')).toBe('text/csv');
  });

  it("there are at most ten: Posthorn's first, then the destination's, then the message's", () => {
    const message = sent({ headers: numbered('x-message-', 9) }, { headers: numbered('x-fixed-', 4) });

    expect(namesOf(message)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'webhook-event-type',
      'x-fixed-0',
      'x-fixed-1',
      'x-fixed-2',
      'x-fixed-3',
      'x-message-0',
      'x-message-1',
    ]);
  });

  it('the legacy signature comes before informational attributes', () => {
    const legacySignature = { ...DEFAULT_LEGACY_SCHEME, header: 'x-signature', key: KEY };

    const message = sent({ headers: numbered('x-message-', 9) }, { headers: numbered('x-fixed-', 9), legacySignature });

    expect(namesOf(message)[4]).toBe('x-signature');
    expect(valueOf(message, 'x-signature')).toMatch(/^[0-9a-f]{64}$/);
  });

  it("the message's value overrides the destination's with the same name, and Posthorn's overrides both", () => {
    const message = sent(
      { headers: { 'x-tenant': 'message', 'webhook-id': 'forged' } },
      { headers: { 'x-tenant': 'fixed' } },
    );

    expect(valueOf(message, 'x-tenant')).toBe('message');
    expect(valueOf(message, 'webhook-id')).toBe(OUTGOING.webhookId);
  });

  it.each([
    ['a name with characters that only HTTP allows', { 'x!y': '1' }],
    ['names that AWS reserves', { 'aws.x': '1', 'amazon.y': '1' }],
    ['leading, trailing and consecutive dots', { '.x': '1', 'x.': '1', 'x..y': '1' }],
    ['a name that is too long', { [`x${'a'.repeat(256)}`]: '1' }],
    ['an empty value', { 'x-a': '' }],
  ])('left out: %s', (_title, headers) => {
    expect(namesOf(sent({ headers }))).toHaveLength(4);
  });

  it("one attribute contains the whole received request, and the provider's own headers take the places that are left", () => {
    const requestLine = { method: 'GET', path: '/a', query: 'b=c' };
    const headers = {
      'content-type': 'a/b',
      accept: '*/*',
      'user-agent': 'Google',
      'webhook-id': 'theirs',
      'posthorn-hops': '1',
      ...numbered('x-goog-', 9),
    };

    const message = sent({ requestLine, headers });

    expect(namesOf(message)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'webhook-event-type',
      'posthorn-request',
      'content-type',
      'posthorn-received-webhook-id',
      'x-goog-0',
      'x-goog-1',
      'x-goog-2',
    ]);
    expect(valueOf(message, 'webhook-id')).toBe(OUTGOING.webhookId);
    expect(JSON.parse(valueOf(message, 'posthorn-request') ?? '')).toEqual({ ...requestLine, headers });
  });

  it('a name like a property of Object.prototype is an ordinary name', () => {
    expect(
      valueOf(
        sent({
          headers: Object.fromEntries([
            ['__proto__', 'p'],
            ['constructor', 'c'],
          ]),
        }),
        'constructor',
      ),
    ).toBe('c');
  });
});

describe('messageOf: the body', () => {
  it('is the payload byte for byte, and verifies with the attributes', () => {
    const message = sent({ body: '{"a": "\u00e9\u{1f600}", "b":1 }', atMs: Date.now() });
    const headers = Object.fromEntries(
      Object.entries(message.attributes).map(([name, { StringValue = '' }]) => [name, StringValue]),
    );

    expect(message.body).toBe('{"a": "\u00e9\u{1f600}", "b":1 }');
    expect(() => new Webhook(KEY.toString('base64')).verify(message.body, headers)).not.toThrow();
    expect(namesOf(message)).not.toContain('content-encoding');
  });

  it.each<[string, string | Buffer]>([
    ['bytes', Buffer.from([0xff, 0x00, 0x80])],
    ['a control character', 'a\u0000b'],
    ['a non-character', '"\uffff"'],
    ['another one', '"\ufffe"'],
    ['half a character', '"\ud800"'],
  ])('%s are encoded in base64, and an attribute marks it', (_title, body) => {
    const message = sent({ body });

    expect(message.body).toBe(Buffer.from(body as string).toString('base64'));
    expect(valueOf(message, 'content-encoding')).toBe('base64');
  });

  it('contains only characters that XML allows, for every payload', () => {
    fc.assert(
      fc.property(unicodeText({ minLength: 1 }), (body) => {
        const message = sent({ body });
        const decoded =
          valueOf(message, 'content-encoding') === 'base64'
            ? Buffer.from(message.body, 'base64').toString()
            : message.body;

        expect(message.body).toMatch(/^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
        expect(decoded).toBe(Buffer.from(body).toString());
      }),
    );
  });

  it('an empty payload is a line break that decodes to nothing, because SQS accepts no empty message', () => {
    const message = sent({ body: '' });

    expect(message.body).toBe('\n');
    expect(valueOf(message, 'content-encoding')).toBe('base64');
    expect(Buffer.from(message.body, 'base64')).toHaveLength(0);
  });

  it('a message with attributes is accepted up to 1 MiB in bytes, and rejected above', () => {
    const overhead = sent({ body: 'a' }).bytes - 1;
    const sized = (bytes: number): ReturnType<typeof messageOf> =>
      messageOf({ ...OUTGOING, body: 'a'.repeat(bytes - overhead) }, TARGET, STANDARD);

    expect(sized(BYTES_MAX)).toMatchObject({ bytes: 1_048_576 });
    expect(sized(BYTES_MAX + 1)).toEqual({ refusal: expect.stringMatching(/1048577 bytes.*at most 1048576/) });
    expect(messageOf({ ...OUTGOING, body: '\u00e9'.repeat(BYTES_MAX / 2) }, TARGET, STANDARD)).toHaveProperty(
      'refusal',
    );
    expect(messageOf({ ...OUTGOING, body: Buffer.alloc(BYTES_MAX * 0.75, 0xff) }, TARGET, STANDARD)).toHaveProperty(
      'refusal',
    );
  });
});

describe('messageOf: a received message that is too large with its attributes', () => {
  it.each([
    ['the request and its headers', 0, 'posthorn-request'],
    ['nothing', -2_000, undefined],
  ])('leaves out %s, if only they exceed the limit', (_title, more, left) => {
    const headers = { 'content-type': 'text/plain', 'x-a': 'a'.repeat(500) };
    const received = { requestLine: { method: 'POST', path: '', query: '' }, headers };
    const overhead = sent({ ...received, requestLine: null, headers: { 'content-type': 'text/plain' } }).bytes;
    const whole = sent({ body: 'a'.repeat(BYTES_MAX - overhead + 1 + more), ...received });

    expect(namesOf(whole).includes('posthorn-request')).toBe(left === undefined);
  });
});

describe('messageOf: FIFO', () => {
  it('a message for a standard queue has no group id and no deduplication id', () => {
    const message = sent();

    expect([message.groupId, message.deduplicationId]).toEqual([undefined, undefined]);
  });

  it.each<[string, Partial<Outgoing>, string | null, string]>([
    ['the event type', {}, null, 'invoice.paid'],
    ['the fixed one', {}, 'all', 'all'],
    ['an event type with other characters', { eventType: 'größe a' }, null, 'gr__e_a'],
    ['a long type', { eventType: 'a'.repeat(200) }, null, 'a'.repeat(128)],
    ['no type', { eventType: '' }, null, 'none'],
  ])('the group is %s', (_title, outgoing, messageGroupId, expected) => {
    expect(sent(outgoing, {}, { isFifo: true, messageGroupId }).groupId).toBe(expected);
  });

  it('attempts of a delivery have the same deduplication id, a replay has another one', () => {
    const [first, second] = [sent({ atMs: 1 }, {}, FIFO), sent({ atMs: 2 }, {}, FIFO)];
    const replay = sent({ atMs: 3, replayed: true }, {}, FIFO);

    expect(first.deduplicationId).toBe(OUTGOING.webhookId);
    expect(second.deduplicationId).toBe(OUTGOING.webhookId);
    expect(replay.deduplicationId).toBe(`${OUTGOING.webhookId}-replayed-3`);
  });
});
