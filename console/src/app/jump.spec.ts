import { inEnvironment, placeOfId } from './jump';

const ULID = '01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('placeOfId', () => {
  it.each([
    [`evt_${ULID}`, `/live/events/evt_${ULID}`],
    [`  EVT_${ULID.toLowerCase()} `, `/live/events/evt_${ULID}`],
    [`evt_${ULID}.0`, `/live/events/evt_${ULID}`],
    [`msg_${ULID}`, `/live/events/msg_${ULID}`],
    [`req_${ULID}`, `/live/events/evt_${ULID}`],
    [`dst_${ULID}`, `/live/destinations/dst_${ULID}`],
    [`rpj_${ULID}`, `/live/jobs/rpj_${ULID}`],
    [`app_${ULID}`, `/live/applications/app_${ULID}`],
    [`dom_${ULID}`, `/live/domains/dom_${ULID}`],
    [`al_${ULID}`, `/live/inbox/al_${ULID}`],
    [`tpl_${ULID}`, `/live/templates/tpl_${ULID}`],
    [`top_${ULID}`, `/live/topics/top_${ULID}`],
    [`xyz_${ULID}`, null],
    ['evt_1', null],
    ['orders', null],
    ['', null],
    [`evt_${ULID}/../x`, null],
  ])('%j: %j', (text, place) => {
    expect(placeOfId(text, 'live')).toBe(place);
  });
});

describe('inEnvironment', () => {
  it.each([
    ['/live/events', '/test/events'],
    [`/live/events/evt_${ULID}`, '/test/events'],
    ['/live/keys', '/test/keys'],
    ['/', '/test/overview'],
  ])('%s: %s', (path, place) => {
    expect(inEnvironment(path, 'test')).toBe(place);
  });
});
