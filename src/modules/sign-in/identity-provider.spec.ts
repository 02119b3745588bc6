import type { OidcProvider } from '#kernel/oidc-provider.js';
import { NotProvided, personOf } from './identity-provider.js';

const provider = (more: Partial<OidcProvider> = {}): OidcProvider => ({
  issuer: 'https://login.example', clientId: 'posthorn', clientSecret: null, groupsClaim: 'groups', roles: [['admins', 'admin'], ['developers', 'write']], domains: [], organization: null, ...more,
});

describe('personOf', () => {
  it.each([
    [['admins'], 'admin'], [['developers', 'admins'], 'admin'], [['developers'], 'write'], [['others'], null], ['developers', 'write'], [undefined, null], [[7, null, 'admins'], 'admin'], [{ admins: true }, null],
  ])('groups %j come to %s', (groups, role) => {
    expect(personOf({ email: 'Ada@Customer.example', groups }, provider()).role).toBe(role);
  });

  it('* is everybody, and a larger group still counts', () => {
    const open = provider({ roles: [['*', 'read'], ['admins', 'admin']] });

    expect([personOf({ email: 'a@b.example' }, open).role, personOf({ email: 'a@b.example', groups: ['admins'] }, open).role]).toEqual(['read', 'admin']);
  });

  it.each([
    ['no address', {}], ['what is no address', { email: 'nobody' }], ['an address that is not verified', { email: 'a@b.example', email_verified: false }],
    ['the same as a text', { email: 'a@b.example', email_verified: 'false' }],
  ])('refuses %s', (_case, claims) => {
    expect(() => personOf(claims, provider())).toThrow(NotProvided);
  });

  it.each([['a@customer.example', true], ['a@CUSTOMER.example', true], ['a@evil.example', false], ['a@sub.customer.example', false], ['a@customer.example.evil.example', false]])('of the domains that come in: %s %s', (email, isIn) => {
    const person = (): unknown => personOf({ email }, provider({ domains: ['customer.example'] }));

    if (isIn) expect(person()).toMatchObject({ email: email.toLowerCase() });
    else expect(person).toThrow(NotProvided);
  });
});
