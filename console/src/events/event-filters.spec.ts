import { asColumns, columnsOf, readSearch } from './columns';
import {
  asFixedQuery,
  asQuery,
  asStreamQuery,
  canGrow,
  isBroughtBy,
  readFilters,
  responseChanges,
} from './event-filters';

const NOW = Date.parse('2026-11-21T09:30:00.000Z');

describe('readFilters', () => {
  it.each([
    [
      { status: 'dlq', since: '-1h' },
      { status: 'dlq', since: '-1h' },
    ],
    [{ status: 'failed,dlq,nonsense' }, { status: 'failed,dlq' }],
    [{ status: ['dlq', 'retrying'] }, { status: 'retrying,dlq' }],
    [{ status: 'nonsense', stauts: 'dlq', event_type: ' invoice.paid ' }, { event_type: 'invoice.paid' }],
    [{ event_type: 42, destination: '' }, { event_type: '42' }],
    [
      { direction: 'inbound', error: '5xx', q: ' evt_1 ' },
      { direction: 'inbound', error: '5xx', q: 'evt_1' },
    ],
    [{ response_status: '503' }, { response_status: 503 }],
    [{ response_status: 204 }, { response_status: 204 }],
    [{ direction: 'sideways', error: '9xx', response_status: '42' }, {}],
    [{ since: 'yesterday', until: '2026-11-21T00:00:00.000Z' }, { until: '2026-11-21T00:00:00.000Z' }],
    [{ since: '-99999h', application: ['a'], moved: '1' }, {}],
  ])('%j: %j', (search, expected) => {
    expect(readFilters(search)).toEqual(expected);
  });
});

describe('responseChanges', () => {
  it.each([
    ['503', { error: undefined, response_status: 503 }],
    [' 204 ', { error: undefined, response_status: 204 }],
    ['5XX', { error: '5xx', response_status: undefined }],
    ['', { error: undefined, response_status: undefined }],
    ['2xx', null],
    ['600', null],
    ['50', null],
    ['timeout', null],
    ['5e2', null],
  ])('%j: %j', (text, changes) => {
    expect(responseChanges(text)).toEqual(changes);
  });
});

describe('asQuery', () => {
  it.each([
    ['-15m', '2026-11-21T09:15:00.000Z'],
    ['-6h', '2026-11-21T03:30:00.000Z'],
    ['-7d', '2026-11-14T09:30:00.000Z'],
    ['2026-11-20T01:00:00+01:00', '2026-11-20T00:00:00.000Z'],
  ])('since %s is %s', (since, expected) => {
    expect(asQuery({ status: 'failed,dlq', since }, NOW)).toEqual({ status: ['failed', 'dlq'], since: expected });
  });

  it('a fixed query ends now, or at its own earlier end', () => {
    expect(asFixedQuery({ since: '-1h' }, NOW)).toEqual({
      since: '2026-11-21T08:30:00.000Z',
      until: '2026-11-21T09:30:00.000Z',
    });
    expect(asFixedQuery({ until: '-1h' }, NOW)).toEqual({ until: '2026-11-21T08:30:00.000Z' });
  });

  it('the stream query has no range and no state, and a list with an end does not grow', () => {
    expect(asStreamQuery({ status: 'dlq', since: '-1h', event_type: 'a', direction: 'inbound', q: 'evt_1' })).toEqual({
      event_type: 'a',
      direction: 'inbound',
    });
    expect([
      canGrow({ since: '-1h' }),
      canGrow({ until: '-1h' }),
      canGrow({ message_id: 'msg_1' }),
      canGrow({ q: 'evt_1' }),
      canGrow({ dedupe_id: 'a' }),
    ]).toEqual([true, false, false, false, false]);
  });
});

describe('isBroughtBy', () => {
  const failed = { status: 503, error: null };
  it.each([
    [{}, 'accepted', 'retrying', undefined, true],
    [{}, 'attempt', 'retrying', failed, false],
    [{ status: 'dlq,failed' }, 'status', 'failed', undefined, true],
    [{ status: 'dlq,failed' }, 'attempt', 'retrying', failed, false],
    [{ error: '5xx' } as const, 'attempt', 'retrying', failed, true],
    [{ error: '4xx' } as const, 'attempt', 'retrying', failed, false],
    [{ error: 'timeout' } as const, 'attempt', 'dlq', { status: null, error: 'timeout' }, true],
    [{ error: '5xx' } as const, 'status', 'dlq', undefined, false],
    [{ response_status: 503 }, 'attempt', 'retrying', failed, true],
    [{ response_status: 502 }, 'attempt', 'retrying', failed, false],
    [{ response_status: 503 }, 'accepted', 'retrying', undefined, false],
    [{ until: '-1h' }, 'accepted', 'retrying', undefined, false],
  ] as const)(
    '%j: a change of kind %s to state %s adds the event (attempt %j): %s',
    (filters, kind, status, attempt, expected) => {
      expect(isBroughtBy(filters, { kind, status, attempt })).toBe(expected);
    },
  );
});

describe('columns in an address', () => {
  it.each([
    [{}, ['status', 'type', 'target', 'attempts', 'answer', 'next', 'received']],
    [{ columns: 'id,status' }, ['status', 'type', 'id']],
    [{ columns: 'nonsense' }, ['type']],
  ])('%j: %j', (search, expected) => {
    expect(columnsOf(readSearch(search))).toEqual(expected);
  });

  it('default columns are left out of the address', () => {
    expect(readSearch({ columns: 'received,status,type,target,attempts,answer,next' })).toEqual({});
    expect(asColumns(['type', 'id'])).toBe('type,id');
  });
});
