import { type Place, placeOf, stateOf } from './places';

const ID = 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('places in the history of the browser', () => {
  it.each<Place>([
    { at: 'endpoints' },
    { at: 'new' },
    { at: 'endpoint', id: ID },
    { at: 'deliveries' },
    { at: 'deliveries', endpoint: ID },
    { at: 'delivery', id: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', endpoint: ID },
    { at: 'catalogue' },
  ])('%j is found again', (place) => {
    expect(placeOf(stateOf(place))).toEqual(place);
  });

  it('that an endpoint is new is said once', () => {
    expect(placeOf(stateOf({ at: 'endpoint', id: ID, isNew: true }))).toEqual({ at: 'endpoint', id: ID });
  });

  it.each([
    [null],
    ['x'],
    [{}],
    [{ portal: 7 }],
    [{ portal: { at: 'nowhere' } }],
    [{ portal: { at: 'endpoint' } }],
    [{ portal: { at: 'endpoint', id: '../x' } }],
    [{ __TSR_key: 'x' }],
  ])('%j is the first one', (state) => {
    expect(placeOf(state)).toEqual({ at: 'endpoints' });
  });
});
