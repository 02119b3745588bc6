import { groupBySubject, placeOfConcern, reasonIn } from './concern-place';

const places = (id: string): string | null => (id.startsWith('dst_') || id.startsWith('rpj_') ? `/live/x/${id}` : null);

describe('placeOfConcern', () => {
  it.each([
    [
      { type: 'deliveries.overdue', subject: null, url: '/v1/events?status=retrying' },
      { to: '/live/events', search: { status: 'retrying' } },
    ],
    [
      { type: 'circuit.open', subject: 'dst_1', url: '' },
      { to: '/live/x/dst_1', search: {} },
    ],
    [
      { type: 'circuit.open', subject: 'dst_1', url: '/v1/emails?status=sending' },
      { to: '/live/emails', search: { status: 'sending' } },
    ],
    [
      { type: 'target.disabled', subject: 'ep_1', url: '/v1/app/app_7/endpoints/ep_1' },
      { to: '/live/applications/app_7/endpoints/ep_1', search: {} },
    ],
    [
      { type: 'dead_letters.growing', subject: 'dst_1', url: '' },
      { to: '/live/events', search: { destination: 'dst_1', status: 'dlq' } },
    ],
    [
      { type: 'dead_letters.growing', subject: 'ep_1', url: '/v1/app/app_7/endpoints/ep_1' },
      { to: '/live/events', search: { endpoint: 'ep_1', status: 'dlq' } },
    ],
    [
      { type: 'verification.failing', subject: 'ep_1', url: '/v1/endpoints/ep_1' },
      { to: '/live/endpoints/ep_1', search: {} },
    ],
    [
      { type: 'job.failed', subject: 'rpj_1', url: '/v1/replays/rpj_1' },
      { to: '/live/x/rpj_1', search: {} },
    ],
    [{ type: 'domain.records_lost', subject: 'dom_1', url: '/v1/domains/dom_1' }, null],
  ] as const)('%j: %j', (concern, expected) => {
    expect(placeOfConcern(concern, 'live', places)).toEqual(expected);
  });
});

describe('groupBySubject', () => {
  const concern = (subject: string | null, type: string): { subject: string | null; type: string } => ({
    subject,
    type,
  });

  it.each([
    ['nothing', [], []],
    [
      'the problems of one target, in the order of the most serious one',
      [concern('dst_2', 'circuit.open'), concern(null, 'overdue'), concern('dst_2', 'dead_letters')],
      [
        { subject: 'dst_2', concerns: [concern('dst_2', 'circuit.open'), concern('dst_2', 'dead_letters')] },
        { subject: null, concerns: [concern(null, 'overdue')] },
      ],
    ],
  ])('%s', (_, given, expected) => {
    expect(groupBySubject(given)).toEqual(expected);
  });
});

describe('reasonIn', () => {
  it.each([
    ['It takes no deliveries until it is enabled: The receiver answered 410 Gone.', 'The receiver answered 410 Gone.'],
    ['Its circuit is open after 12 failures in a row: deliveries wait until a probe succeeds.', null],
  ])('%s: %s', (sentence, reason) => {
    expect(reasonIn(sentence)).toBe(reason);
  });
});
