import type { OwnEndpoint } from './application-queries';
import { endpointChangesOf, type EndpointDraft, endpointDraftOf, NEW_ENDPOINT } from './endpoint-draft';

const STORED: OwnEndpoint = {
  id: 'ep_1',
  uid: 'production',
  application: 'app_1',
  url: 'https://example.com/hooks',
  destination: null,
  destination_status: null,
  description: 'Production',
  event_types: ['invoice.paid'],
  channels: ['project-42'],
  filter: { path: '$.amount', op: 'gte', value: '1000' },
  metadata: {},
  status: 'active',
  disabled_reason: null,
  circuit: null,
  created_at: '2026-11-21T09:30:00.000Z',
  updated_at: '2026-11-21T09:30:00.000Z',
  headers: {},
  retry: { max_attempts: 2, schedule: [0, 5] },
  rate_limit: null,
  timeout_ms: 15_000,
  concurrency: null,
  asymmetric: false,
  legacy_signature: null,
};

describe('the draft of an endpoint', () => {
  const before = endpointDraftOf(STORED);

  it.each([STORED, { ...STORED, url: null, destination: 'dst_1', filter: null, headers: undefined }])(
    'has no changes if nothing was edited',
    (stored) => {
      const draft = endpointDraftOf(stored);

      expect(endpointChangesOf(draft, draft, 'no object')).toEqual({ changes: {}, filterFault: null, isWrong: false });
    },
  );

  it.each<[Partial<EndpointDraft>, Record<string, unknown>]>([
    [{ url: 'https://new.example ' }, { url: 'https://new.example' }],
    [{ uid: '' }, { uid: null }],
    [{ description: '' }, { description: '' }],
    [{ types: [] }, { event_types: [] }],
    [{ channels: 'a, b' }, { channels: ['a', 'b'] }],
    [{ filter: '' }, { filter: null }],
    [{ delivery: { ...before.delivery!, concurrency: '3' } }, { concurrency: 3 }],
  ])('%j becomes %j', (edited, changes) => {
    expect(endpointChangesOf({ ...before, ...edited }, before, 'no object').changes).toEqual(changes);
  });

  it('is wrong with a filter that is not an object, or a broken header', () => {
    expect(endpointChangesOf({ ...before, filter: '[]' }, before, 'no object')).toMatchObject({
      isWrong: true,
      filterFault: { line: 1, message: 'no object' },
    });
    expect(
      endpointChangesOf({ ...before, delivery: { ...before.delivery!, headers: 'broken' } }, before, 'no object')
        .isWrong,
    ).toBe(true);
  });

  it('of a new endpoint contains only what was filled in', () => {
    const draft = { ...NEW_ENDPOINT, url: 'https://example.com', types: ['invoice.*'] };

    expect(endpointChangesOf(draft, NEW_ENDPOINT, '').changes).toEqual({
      url: 'https://example.com',
      event_types: ['invoice.*'],
    });
  });
});
