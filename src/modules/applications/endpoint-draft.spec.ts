import {
  deliverySettingsOf,
  type EndpointFields,
  fieldColumns,
  fieldFaults,
  foreignSettingsFaults,
} from './endpoint-draft.js';

const paths = (fields: EndpointFields): string[] => fieldFaults(fields).map(({ path }) => path);

describe('fieldFaults', () => {
  it.each<[EndpointFields]>([
    [{}],
    [{ uid: null, description: null, event_types: null, channels: null, filter: null, metadata: null }],
    [
      {
        uid: 'a@b.c:1',
        event_types: ['invoice.paid', 'user.*', 'a'],
        channels: ['project/1'],
        filter: { path: '$.a', op: 'exists' },
        metadata: { k: 'v' },
      },
    ],
  ])('finds none in %j', (fields) => {
    expect(fieldFaults(fields)).toEqual([]);
  });

  it.each<[string[], EndpointFields]>([
    [['uid'], { uid: 'ep_mine' }],
    [['uid'], { uid: '' }],
    [['event_types.1'], { event_types: ['a', '*'] }],
    [['event_types.0'], { event_types: ['a.*.b'] }],
    [['channels.0'], { channels: [' '] }],
    [['filter.op'], { filter: { path: '$.a', op: 'like', value: 'x' } }],
    [['metadata'], { metadata: { '': 'v' } }],
    [
      ['uid', 'event_types.0', 'channels.0', 'metadata.k'],
      { uid: ' ', event_types: ['!'], channels: ['!'], metadata: { k: 'v'.repeat(501) } },
    ],
  ])('returns all faults: %j', (expected, fields) => {
    expect(paths(fields)).toEqual(expected);
  });
});

describe('fieldColumns', () => {
  it('changes only the given fields, and removes duplicate entries', () => {
    expect(fieldColumns({})).toEqual({});
    expect(fieldColumns({ event_types: ['a', 'b', 'a'], channels: ['c', 'c'] })).toEqual({
      eventTypes: ['a', 'b'],
      channels: ['c'],
    });
  });

  it('null removes the values', () => {
    expect(
      fieldColumns({ uid: null, description: null, event_types: null, channels: null, filter: null, metadata: null }),
    ).toEqual({
      uid: null,
      description: '',
      eventTypes: [],
      channels: [],
      filter: null,
      metadata: {},
    });
  });
});

describe('deliverySettingsOf', () => {
  it('returns the given delivery settings, including null', () => {
    const asked = {
      uid: 'x',
      url: 'https://example.com',
      headers: undefined,
      retry: null,
      timeout_ms: 100,
      asymmetric: false,
    };

    expect(deliverySettingsOf(asked)).toEqual({ retry: null, timeout_ms: 100, asymmetric: false });
    expect(foreignSettingsFaults(deliverySettingsOf(asked)).map(({ path }) => path)).toEqual([
      'retry',
      'timeout_ms',
      'asymmetric',
    ]);
  });
});
