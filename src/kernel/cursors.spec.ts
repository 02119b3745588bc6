import fc from 'fast-check';
import { unicodeText } from '../../test/support/unicode-text.js';
import type { Clock } from './clock.js';
import { type CursorQuery, Cursors } from './cursors.js';
import { ApiError } from './errors.js';
import type { Tenant } from './tenant.js';

const TENANT: Tenant = { environmentId: 7, organizationId: '0190f0a0-0000-0000-0000-000000000001', mode: 'live' };
const QUERY: CursorQuery = { list: 'events', filters: { status: 'dlq', event_type: 'invoice.paid' } };
const LAST = '0190f0a0-0000-0000-0000-00000000000a';
const HOUR_MS = 3_600_000;

function arrange(key = Buffer.alloc(32, 1)) {
  const time = { nowMs: 1_000_000 };
  const cursors = new Cursors({ derived: () => key }, { nowMs: () => time.nowMs } as unknown as Clock);
  return { cursors, time };
}

function refusal(read: () => unknown): ApiError {
  try {
    read();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('The cursor was taken.');
}

describe('Cursors', () => {
  it('reads back the position that it issued, on every node with the same keyring', () => {
    fc.assert(
      fc.property(unicodeText(), (last) => {
        const cursor = arrange().cursors.issue(TENANT, QUERY, last);

        expect(arrange().cursors.read(TENANT, QUERY, cursor)).toBe(last);
      }),
    );
  });

  it.each([
    ['no cursor for the last rows', ['a', 'b'], null],
    ['the cursor of the last row that is shown, if there are more', ['a', 'b', 'c'], 'b'],
    ['no cursor for no rows', [], null],
  ])('page: returns at most the limit, and %s', (_what, ids, last) => {
    const { cursors } = arrange();

    const page = cursors.page(
      TENANT,
      QUERY,
      ids.map((id) => ({ id })),
      2,
      ({ id }) => id,
    );

    expect(page.rows.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(page.nextCursor && cursors.read(TENANT, QUERY, page.nextCursor)).toBe(last);
  });

  it('consists of characters that need no encoding in a URL', () => {
    expect(arrange().cursors.issue(TENANT, QUERY, LAST)).toMatch(/^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{22}$/);
  });

  it('accepts the filters in any order', () => {
    const { cursors } = arrange();
    const reordered = { list: 'events', filters: { event_type: 'invoice.paid', status: 'dlq' } };

    expect(cursors.read(TENANT, reordered, cursors.issue(TENANT, QUERY, LAST))).toBe(LAST);
  });

  it('is valid for one hour', () => {
    const { cursors, time } = arrange();
    const cursor = cursors.issue(TENANT, QUERY, LAST);

    time.nowMs += HOUR_MS;
    expect(cursors.read(TENANT, QUERY, cursor)).toBe(LAST);
    time.nowMs += 1;
    expect(refusal(() => cursors.read(TENANT, QUERY, cursor))).toMatchObject({
      type: 'bad_request',
      message: 'The cursor has expired. Start again without it.',
    });
  });

  it.each<[string, Tenant, CursorQuery]>([
    ['another environment', { ...TENANT, environmentId: 8 }, QUERY],
    ['another list', TENANT, { ...QUERY, list: 'destinations' }],
    ['another filter', TENANT, { ...QUERY, filters: { ...QUERY.filters, status: 'failed' } }],
    ['a filter more', TENANT, { ...QUERY, filters: { ...QUERY.filters, endpoint: 'dst_x' } }],
    ['a filter less', TENANT, { ...QUERY, filters: { status: 'dlq' } }],
    ['swapped filter values', TENANT, { ...QUERY, filters: { status: 'invoice.paid', event_type: 'dlq' } }],
  ])('400: a cursor of %s', (_what, tenant, query) => {
    const { cursors } = arrange();
    const cursor = cursors.issue(TENANT, QUERY, LAST);

    expect(refusal(() => cursors.read(tenant, query, cursor))).toMatchObject({ type: 'bad_request' });
  });

  it('400: a cursor of another keyring', () => {
    const cursor = arrange(Buffer.alloc(32, 2)).cursors.issue(TENANT, QUERY, LAST);

    expect(refusal(() => arrange().cursors.read(TENANT, QUERY, cursor))).toMatchObject({ type: 'bad_request' });
  });

  it('400: a cursor with any character changed, except for the padding bits', () => {
    const { cursors } = arrange();
    const cursor = cursors.issue(TENANT, QUERY, LAST);
    // The last character contains four bits that base64 ignores.
    const changeable = fc.integer({ min: 0, max: cursor.length - 2 });
    fc.assert(
      fc.property(changeable, fc.constantFrom('A', 'Z', '0', '_', '.', '=', ' ', 'é'), (at, other) => {
        fc.pre(cursor[at] !== other);
        const changed = cursor.slice(0, at) + other + cursor.slice(at + 1);

        expect(refusal(() => cursors.read(TENANT, QUERY, changed))).toMatchObject({ type: 'bad_request' });
      }),
    );
  });

  it('400, and no other error, for any other input', () => {
    const { cursors } = arrange();
    const text = fc.oneof(
      unicodeText(),
      fc.tuple(fc.base64String(), fc.base64String()).map((parts) => parts.join('.')),
    );
    fc.assert(
      fc.property(text, (cursor) =>
        expect(refusal(() => cursors.read(TENANT, QUERY, cursor))).toMatchObject({ type: 'bad_request' }),
      ),
    );
  });
});
