import { readSearchText, searchChanges } from './search-text';

const ULID = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('readSearchText', () => {
  it.each([
    [`evt_${ULID}`, 'event', 'q'],
    [` evt_${ULID.toLowerCase()} `, 'event', 'q'],
    [`evt_${ULID}.12`, 'delivery', 'q'],
    [`msg_${ULID}`, 'message', 'q'],
    [`req_${ULID}`, 'request', 'q'],
    [`dst_${ULID}`, 'destination', 'destination'],
    [`app_${ULID}`, 'application', 'application'],
    [`ep_${ULID}`, 'endpoint', 'endpoint'],
    ['https://example.com/hooks', 'url', 'destination'],
    ['msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', 'foreign', 'q'],
    ['evt_', 'foreign', 'q'],
    ['invoice.paid', 'type', 'event_type'],
    ['message', 'type', 'event_type'],
  ])('%s is of kind %s and sets the filter %s', (text, kind, filter) => {
    expect(readSearchText(text)).toEqual({ kind, filter, value: text.trim() });
  });

  it.each([
    [ULID, 'bare', `evt_${ULID}`],
    ['019aa45d-0fe9-ba38-7d9b-a5f13e350961', 'uuid', 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
    ['00000000-0000-0000-0000-00000000002A', 'uuid', 'evt_0000000000000000000000001A'],
  ])('%s is of kind %s and searched as %s', (text, kind, value) => {
    expect(readSearchText(text)).toEqual({ kind, filter: 'q', value });
  });

  it('blank text searches nothing', () => {
    expect(readSearchText('  ')).toBeNull();
  });
});

describe('searchChanges', () => {
  it.each([
    [`evt_${ULID}`, { q: `evt_${ULID}` }],
    ['invoice.paid', { q: undefined, event_type: 'invoice.paid' }],
    ['', { q: undefined }],
  ])('%j sets %j', (text, changes) => {
    expect(searchChanges(text)).toEqual(changes);
  });
});
