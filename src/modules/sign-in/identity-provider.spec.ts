import type { OidcProvider } from '#kernel/oidc-provider.js';
import { joined, NotProvided, personOf } from './identity-provider.js';

const provider = (more: Partial<OidcProvider> = {}): OidcProvider => ({
  issuer: 'https://login.example', clientId: 'posthorn', clientSecret: null, groupsClaim: 'groups', roles: [['admins', 'admin'], ['developers', 'write']], domains: [], trustsEmail: false, signingAlgorithms: [], organization: null, ...more,
});

const ADA = { email: 'Ada@Customer.example', email_verified: true };

describe('personOf', () => {
  it.each([
    [['admins'], 'admin'], [['developers', 'admins'], 'admin'], [['developers'], 'write'], [['others'], null], ['developers', 'write'], [undefined, null], [[7, null, 'admins'], 'admin'], [{ admins: true }, null],
  ])('groups %j come to %s', (groups, role) => {
    expect(personOf({ ...ADA, groups }, provider()).role).toBe(role);
  });

  it('* is everybody, and a larger group still counts', () => {
    const open = provider({ roles: [['*', 'read'], ['admins', 'admin']] });

    expect([personOf(ADA, open).role, personOf({ ...ADA, groups: ['admins'] }, open).role]).toEqual(['read', 'admin']);
  });

  it.each([
    ['no address', { email_verified: true }], ['what is no address', { email: 'nobody', email_verified: true }], ['an address that is not verified', { email: 'a@b.example', email_verified: false }],
    ['the same as a text', { email: 'a@b.example', email_verified: 'false' }], ['one that is not said to be', { email: 'a@b.example' }],
    ['the same with null', { email: 'a@b.example', email_verified: null }], ['what is neither', { email: 'a@b.example', email_verified: 1 }],
  ])('refuses %s', (_case, claims) => {
    expect(() => personOf(claims, provider())).toThrow(NotProvided);
  });

  it.each([['a@customer.example', true], ['a@CUSTOMER.example', true], ['a@evil.example', false], ['a@sub.customer.example', false], ['a@customer.example.evil.example', false]])('of the domains that come in: %s %s', (email, isIn) => {
    const person = (): unknown => personOf({ email, email_verified: 'true' }, provider({ domains: ['customer.example'] }));

    if (isIn) expect(person()).toMatchObject({ email: email.toLowerCase() });
    else expect(person).toThrow(NotProvided);
  });

  it.each([
    ['nothing', {}, true], ['null', { email_verified: null }, true], ['that it is not', { email_verified: false }, false], ['the same as a text', { email_verified: 'false' }, false],
  ])('an installation that trusts its provider takes an address of which it says %s: %s %s', (_case, said, isIn) => {
    const person = (): unknown => personOf({ email: 'a@b.example', ...said }, provider({ trustsEmail: true }));

    if (isIn) expect(person()).toMatchObject({ email: 'a@b.example' });
    else expect(person).toThrow(NotProvided);
  });
});

describe('joined', () => {
  it('what the ID token says goes before the user info', () => {
    expect(joined({ sub: '1', email: 'a@b.example' }, { email: 'a@b.example', email_verified: true, groups: ['x'] })).toEqual({ sub: '1', email: 'a@b.example', email_verified: true, groups: ['x'] });
    expect(joined({ email_verified: false, email: 'a@b.example' }, { email: 'a@b.example', email_verified: true })).toEqual({ email: 'a@b.example', email_verified: false });
    expect(joined({ sub: '1' }, { email: 'a@b.example', email_verified: true })).toEqual({ sub: '1', email: 'a@b.example', email_verified: true });
  });

  it('that another address is verified says nothing of the one that counts', () => {
    expect(joined({ email: 'admin@b.example' }, { email: 'a@b.example', email_verified: true })).toEqual({ email: 'admin@b.example' });
  });
});
