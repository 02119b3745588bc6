import { emailQuery, messageQuery, readEmailFilters, readMessageFilters, readSuppressionFilters } from './mail-filters';

describe('filters of mail', () => {
  it.each([
    [
      { status: 'bounced', since: '-1d' },
      { status: 'bounced', since: '-1d' },
    ],
    [{ status: 'lost', since: 'yesterday', until: 7, more: 'x' }, {}],
    [
      { tag: 'campaign:welcome', recipient: ' a@b.example ' },
      { tag: 'campaign:welcome', recipient: 'a@b.example' },
    ],
    [{ tag: 'a b', recipient: 7 }, {}],
    [{ until: '2026-11-21T00:00:00Z' }, { until: '2026-11-21T00:00:00Z' }],
  ])('%j of emails: %j', (search, filters) => {
    expect(readEmailFilters(search)).toEqual(filters);
  });

  it.each([
    [
      { state: 'quarantined', from: ' a@b.example', since: '-1h' },
      { state: 'quarantined', from: 'a@b.example', since: '-1h' },
    ],
    [{ state: 'lost', from: '', since: 'x' }, {}],
  ])('%j of messages: %j', (search, filters) => {
    expect(readMessageFilters(search)).toEqual(filters);
    expect(messageQuery({ from: 'a@b.example', since: '-1h' }, Date.parse('2026-11-21T09:30:00Z'))).toEqual({
      from: 'a@b.example',
      since: '2026-11-21T08:30:00.000Z',
    });
  });

  it.each([
    [
      { origin: 'bounce', email: ' a@b.example ' },
      { origin: 'bounce', email: 'a@b.example' },
    ],
    [{ origin: 'unsubscribe' }, { origin: 'unsubscribe' }],
    [{ origin: 'x', email: '' }, {}],
  ])('%j of suppressions: %j', (search, filters) => {
    expect(readSuppressionFilters(search)).toEqual(filters);
  });

  it('relative times are resolved at the time of the request', () => {
    expect(emailQuery({ status: 'dlq', since: '-1h' }, Date.parse('2026-11-21T09:30:00Z'))).toEqual({
      status: 'dlq',
      since: '2026-11-21T08:30:00.000Z',
    });
  });
});
