import type { OidcProvider } from '#kernel/config/oidc-provider.js';
import { joined, NotProvided, personOf, pinned } from './identity-provider.js';

const provider = (more: Partial<OidcProvider> = {}): OidcProvider => ({
  issuer: 'https://login.example',
  clientId: 'posthorn',
  clientSecret: null,
  groupsClaim: 'groups',
  roles: [
    ['admins', 'admin'],
    ['developers', 'write'],
  ],
  domains: [],
  trustsEmail: false,
  signingAlgorithms: [],
  organization: null,
  ...more,
});

const ADA = { email: 'Ada@Customer.example', email_verified: true };

describe('personOf', () => {
  it("lower-cases only ASCII letters, so that another address does not become a member's", () => {
    expect(personOf({ email: '\u212aIM@Customer.example', email_verified: true }, provider()).email).toBe(
      '\u212aim@customer.example',
    );
  });

  it.each([
    [['admins'], 'admin'],
    [['developers', 'admins'], 'admin'],
    [['developers'], 'write'],
    [['others'], null],
    ['developers', 'write'],
    [undefined, null],
    [[7, null, 'admins'], 'admin'],
    [{ admins: true }, null],
  ])('groups %j come to %s', (groups, role) => {
    expect(personOf({ ...ADA, groups }, provider()).role).toBe(role);
  });

  it('* matches everyone, and a higher role of a group still applies', () => {
    const open = provider({
      roles: [
        ['*', 'read'],
        ['admins', 'admin'],
      ],
    });

    expect([personOf(ADA, open).role, personOf({ ...ADA, groups: ['admins'] }, open).role]).toEqual(['read', 'admin']);
  });

  it.each([
    ['no address', { email_verified: true }],
    ['an invalid address', { email: 'nobody', email_verified: true }],
    ['an address that is not verified', { email: 'a@b.example', email_verified: false }],
    ['false as a string', { email: 'a@b.example', email_verified: 'false' }],
    ['an address without a verified flag', { email: 'a@b.example' }],
    ['an address with a null flag', { email: 'a@b.example', email_verified: null }],
    ['what is neither', { email: 'a@b.example', email_verified: 1 }],
  ])('refuses %s', (_case, claims) => {
    expect(() => personOf(claims, provider())).toThrow(NotProvided);
  });

  it.each([
    ['a@customer.example', true],
    ['a@CUSTOMER.example', true],
    ['a@evil.example', false],
    ['a@sub.customer.example', false],
    ['a@customer.example.evil.example', false],
  ])('OIDC_DOMAINS limits the addresses: %s %s', (email, isIn) => {
    const person = (): unknown =>
      personOf({ email, email_verified: 'true' }, provider({ domains: ['customer.example'] }));

    if (isIn) expect(person()).toMatchObject({ email: email.toLowerCase() });
    else expect(person).toThrow(NotProvided);
  });

  it.each([
    ['nothing', {}, true],
    ['null', { email_verified: null }, true],
    ['false', { email_verified: false }, false],
    ['false as a string', { email_verified: 'false' }, false],
  ])('with a trusted provider, an address with the verified flag %s: %s %s', (_case, said, isIn) => {
    const person = (): unknown => personOf({ email: 'a@b.example', ...said }, provider({ trustsEmail: true }));

    if (isIn) expect(person()).toMatchObject({ email: 'a@b.example' });
    else expect(person).toThrow(NotProvided);
  });
});

describe('pinned', () => {
  const metadata = { issuer: 'https://login.example', jwks_uri: 'https://login.example/jwks' };
  const algorithmsOf = (server: object, signingAlgorithms: string[] = []): unknown =>
    pinned({ ...metadata, ...server }, { signingAlgorithms }).id_token_signing_alg_values_supported;

  it('keeps the listed algorithms that have a public key, and RS256 if none are listed (OpenID Connect Discovery, section 3)', () => {
    expect(
      algorithmsOf({ id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256', 'ES256', 'XX999'] }),
    ).toEqual(['RS256', 'ES256']);
    expect(algorithmsOf({})).toEqual(['RS256']);
  });

  it('uses the algorithms that the client is registered with instead', () => {
    expect(algorithmsOf({ id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] }, ['ES256'])).toEqual([
      'ES256',
    ]);
  });

  it.each([
    [{ id_token_signing_alg_values_supported: ['HS256', 'none'] }],
    [{ id_token_signing_alg_values_supported: [] }],
    [{ jwks_uri: undefined }],
  ])('rejects a provider whose signatures cannot be verified: %j', (server) => {
    expect(() => algorithmsOf(server)).toThrow('for signing ID tokens');
  });

  it('applies the same rule to signed user info', () => {
    expect(
      pinned({ ...metadata, userinfo_signing_alg_values_supported: ['none', 'PS256'] }, { signingAlgorithms: [] })
        .userinfo_signing_alg_values_supported,
    ).toEqual(['PS256']);
  });
});

describe('joined', () => {
  it('claims of the ID token override the user info', () => {
    expect(
      joined({ sub: '1', email: 'a@b.example' }, { email: 'a@b.example', email_verified: true, groups: ['x'] }),
    ).toEqual({ sub: '1', email: 'a@b.example', email_verified: true, groups: ['x'] });
    expect(
      joined({ email_verified: false, email: 'a@b.example' }, { email: 'a@b.example', email_verified: true }),
    ).toEqual({ email: 'a@b.example', email_verified: false });
    expect(joined({ sub: '1' }, { email: 'a@b.example', email_verified: true })).toEqual({
      sub: '1',
      email: 'a@b.example',
      email_verified: true,
    });
  });

  it('the verified flag of another address does not count', () => {
    expect(joined({ email: 'admin@b.example' }, { email: 'a@b.example', email_verified: true })).toEqual({
      email: 'admin@b.example',
    });
  });
});
