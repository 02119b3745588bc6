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
    ['msg_2KWPBgLlAfxdpx2AI54pPJ85f4W', 'provider', 'dedupe_id'],
    ['evt_1NG8Du2eZvKYlo2CUI79vXWy', 'provider', 'dedupe_id'],
    ['72d3162e-cc78-11e3-81ab-4c9367dc0958', 'provider-uuid', 'dedupe_id'],
    ['b54557e4-bdd9-4b37-8a5f-bf7d70bcd043', 'provider-uuid', 'dedupe_id'],
    ['00000000-0000-0000-0000-00000000002A', 'provider-uuid', 'dedupe_id'],
    ['evt_', 'type', 'event_type'],
    ['app_installed', 'type', 'event_type'],
    ['invoice.paid', 'type', 'event_type'],
    ['message', 'type', 'event_type'],
  ])('%s is of kind %s and sets the filter %s', (text, kind, filter) => {
    expect(readSearchText(text)).toEqual({ kind, filter, value: text.trim() });
  });

  it.each([
    [ULID, 'bare', `evt_${ULID}`],
    ['019aa45d-0fe9-ba38-7d9b-a5f13e350961', 'uuid', 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1'],
  ])('%s is of kind %s and searched as %s', (text, kind, value) => {
    expect(readSearchText(text)).toEqual({ kind, filter: 'q', value });
  });

  it('blank text searches nothing', () => {
    expect(readSearchText('  ')).toBeNull();
  });
});

describe('searchChanges', () => {
  it.each([
    [`evt_${ULID}`, { q: `evt_${ULID}`, dedupe_id: undefined }],
    ['evt_1NG8Du2eZvKYlo2CUI79vXWy', { q: undefined, dedupe_id: 'evt_1NG8Du2eZvKYlo2CUI79vXWy' }],
    ['invoice.paid', { q: undefined, dedupe_id: undefined, event_type: 'invoice.paid' }],
    ['', { q: undefined, dedupe_id: undefined }],
  ])('%j sets %j', (text, changes) => {
    expect(searchChanges(text)).toEqual(changes);
  });
});
