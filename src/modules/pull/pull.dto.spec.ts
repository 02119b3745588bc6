import { lowestIdAt, showId } from '#kernel/ids.js';
import { presentBatch } from './pull.dto.js';
import type { ItemRow } from './pull.store.js';

const EDGE_MS = 1_795_253_400_000;

const row = (fields: Partial<ItemRow> = {}): ItemRow => ({
  position: '1.800.x.0',
  eventId: lowestIdAt(EDGE_MS),
  replayed: false,
  direction: 'outbound',
  url: null,
  eventType: 'invoice.paid',
  method: null,
  path: null,
  query: null,
  headers: null,
  payload: '{"a":1}',
  body: null,
  messageId: null,
  erasedAt: null,
  settledAt: new Date(EDGE_MS + 4),
  ...fields,
});

const present = (...items: ItemRow[]): string =>
  presentBatch({ items, nextCursor: 'next', consumedAtMs: EDGE_MS + 120 }, { scope: 'write' });

describe('presentBatch', () => {
  it('shows a sent event', () => {
    const id = lowestIdAt(EDGE_MS);

    expect(JSON.parse(present(row({ headers: { 'x-tenant': '42' } })))).toEqual({
      data: [
        {
          id: showId('evt', id),
          webhook_id: showId('msg', id),
          event_type: 'invoice.paid',
          endpoint: null,
          status: 'delivered',
          received_at: '2026-11-21T09:30:00.000Z',
          method: null,
          path: null,
          query: null,
          headers: { 'x-tenant': '42' },
          replayed: false,
          timings: { edge_at: EDGE_MS, stored_at: EDGE_MS + 4, processed_at: EDGE_MS + 4, consumed_at: EDGE_MS + 120 },
          attempts: [],
          payload_encoding: 'json',
          payload: { a: 1 },
        },
      ],
      next_cursor: 'next',
    });
  });

  it('shows a received event with its endpoint, and with its own id as the webhook-id', () => {
    const {
      data: [item],
    } = JSON.parse(present(row({ direction: 'inbound', url: 'org/stripe' })));

    expect(item).toMatchObject({ endpoint: 'org/stripe', webhook_id: item.id });
  });

  it.each([
    ['an integer beyond doubles', 'outbound', '{"n": 12345678901234567890, "one":1.0, "n":2}'],
    ['spaces and escapes', 'outbound', '{ "a" : "\\u00e9\\/" }'],
    ['a scalar', 'outbound', 'null'],
    ['JSON that was received', 'inbound', '[1e400]'],
  ] as const)('keeps every character of %s', (_what, direction, payload) => {
    const text = present(row({ direction, payload }), row());

    expect(text).toContain(`"payload_encoding":"json","payload":${payload}}`);
    expect(JSON.parse(text).data).toHaveLength(2);
  });

  it.each([
    ['text that is not JSON', { payload: 'a=1&b="2"' }, 'text', 'a=1&b="2"'],
    ['an empty body', { payload: '' }, 'text', ''],
    ['bytes', { payload: null, body: Buffer.from([0xff, 0, 1]) }, 'base64', '/wAB'],
  ])('shows a received body of %s as a string', (_what, fields, encoding, payload) => {
    const {
      data: [item],
    } = JSON.parse(present(row({ direction: 'inbound', ...fields })));

    expect(item).toMatchObject({ payload_encoding: encoding, payload });
  });

  it('shows an event of a fan-out under the id of its message', () => {
    const {
      data: [item],
    } = JSON.parse(present(row({ messageId: lowestIdAt(EDGE_MS - 1) })));

    expect(item).toMatchObject({
      id: showId('evt', lowestIdAt(EDGE_MS)),
      webhook_id: showId('msg', lowestIdAt(EDGE_MS - 1)),
    });
  });

  it.each(['outbound', 'inbound'] as const)(
    'shows an erased event (%s) without a payload, and when it was erased',
    (direction) => {
      const {
        data: [item],
      } = JSON.parse(present(row({ direction, payload: null, erasedAt: new Date(EDGE_MS + 9) })));

      expect(item).toMatchObject({
        payload_encoding: 'json',
        payload: null,
        payload_erased_at: '2026-11-21T09:30:00.009Z',
      });
    },
  );

  it('shows the time at which a replay became available instead of the time at which its event was stored', () => {
    const {
      data: [item],
    } = JSON.parse(present(row({ replayed: true, settledAt: new Date(EDGE_MS + 100) })));

    expect(item).toMatchObject({
      replayed: true,
      timings: { edge_at: EDGE_MS, stored_at: EDGE_MS, processed_at: EDGE_MS + 100, consumed_at: EDGE_MS + 120 },
    });
  });

  it.each([
    ['behind', EDGE_MS - 5_000, [EDGE_MS, EDGE_MS, EDGE_MS, EDGE_MS + 120]],
    ['ahead', EDGE_MS + 5_000, [EDGE_MS, EDGE_MS + 5_000, EDGE_MS + 5_000, EDGE_MS + 5_000]],
  ])("shows the stages in ascending order if the database's clock is %s", (_what, settledMs, expected) => {
    const {
      data: [item],
    } = JSON.parse(present(row({ settledAt: new Date(settledMs) })));

    expect(Object.values(item.timings)).toEqual(expected);
  });

  it('is valid for an empty batch', () => {
    expect(JSON.parse(presentBatch({ items: [], nextCursor: null, consumedAtMs: 0 }, { scope: 'read' }))).toEqual({
      data: [],
      next_cursor: null,
    });
  });
});
