import { differences } from '../screenshots/screens.js';

describe('the script that makes screenshots', () => {
  it('knows every route of the console, and no other', () => {
    expect(differences()).toEqual({ missing: [], unknown: [] });
  });
});
