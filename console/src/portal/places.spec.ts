import { type Place, placeOf, stateOf } from './places';

const ID = 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1';

describe('screens in the history of the browser', () => {
  it.each<Place>([
    { at: 'endpoints' },
    { at: 'new' },
    { at: 'endpoint', id: ID },
    { at: 'deliveries' },
    { at: 'deliveries', endpoint: ID },
    { at: 'delivery', id: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1', endpoint: ID },
    { at: 'catalogue' },
  ])('%j is restored', (place) => {
    expect(placeOf(stateOf(place))).toEqual(place);
  });

  it('the state does not keep that an endpoint is new', () => {
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
  ])('%j leads to the first screen', (state) => {
    expect(placeOf(state)).toEqual({ at: 'endpoints' });
  });
});
