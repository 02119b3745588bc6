import { grants, type Scope, SCOPES } from './tenant.js';

describe('grants', () => {
  it.each<[Scope, Scope, boolean]>([
    ['read', 'read', true],
    ['read', 'write', false],
    ['read', 'admin', false],
    ['write', 'read', true],
    ['write', 'write', true],
    ['write', 'admin', false],
    ['admin', 'read', true],
    ['admin', 'write', true],
    ['admin', 'admin', true],
  ])('a key with scope %s may do something that needs %s: %s', (held, needed, granted) => {
    expect(grants(held, needed)).toBe(granted);
  });

  it('has the three scopes of the specification', () => {
    expect([...SCOPES]).toEqual(['read', 'write', 'admin']);
  });
});
