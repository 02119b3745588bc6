import { loadConfig } from './config.js';

const env = { OIDC_ISSUER: 'https://login.example/', OIDC_CLIENT_ID: 'posthorn' };

describe('the identity provider of the environment variables', () => {
  it('is null without an issuer', () => {
    expect(loadConfig({}).oidc).toBeNull();
  });

  it('reads roles, domains and the issuer exactly as in its document', () => {
    expect(
      loadConfig({
        ...env,
        OIDC_ROLES: 'admins=admin,team=a=write,*=read',
        OIDC_DOMAINS: '@Customer.example, b.example',
      }).oidc,
    ).toMatchObject({
      issuer: 'https://login.example',
      groupsClaim: 'groups',
      roles: [
        ['admins', 'admin'],
        ['team=a', 'write'],
        ['*', 'read'],
      ],
      domains: ['customer.example', 'b.example'],
      clientSecret: null,
    });
    expect(loadConfig({ ...env, OIDC_ISSUER: 'https://login.example/realms/a' }).oidc?.issuer).toBe(
      'https://login.example/realms/a',
    );
  });

  it.each([
    [{ OIDC_CLIENT_ID: 'posthorn' }, 'OIDC_CLIENT_ID requires OIDC_ISSUER'],
    [{ OIDC_ISSUER: 'https://login.example' }, 'OIDC_ISSUER requires OIDC_CLIENT_ID'],
    [{ ...env, OIDC_ROLES: 'admins=owner' }, 'OIDC_ROLES must be'],
    [{ ...env, OIDC_ISSUER: 'ftp://login.example' }, 'OIDC_ISSUER must be'],
    [{ ...env, OIDC_SIGNING_ALGORITHMS: 'RS256,none' }, 'OIDC_SIGNING_ALGORITHMS must be'],
    [{ ...env, OIDC_SIGNING_ALGORITHMS: 'HS256' }, 'OIDC_SIGNING_ALGORITHMS must be'],
    [{ OPERATOR_KEY: 'short' }, 'OPERATOR_KEY must be 32 to 200'],
    [{ OPERATOR_KEY: `ek_live_${'a'.repeat(40)}` }, 'OPERATOR_KEY must not begin with ek_'],
    [{ SIGN_IN_MAIL_FROM: 'nobody' }, 'SIGN_IN_MAIL_FROM must be'],
    [{ AUDIT_RETENTION_DAYS: '0' }, 'AUDIT_RETENTION_DAYS must be'],
  ])('%j: %s', (given, message) => {
    expect(() => loadConfig(given as unknown as Record<string, string>)).toThrow(message);
  });

  it("never shows its secret or the operator's key", () => {
    const config = loadConfig({ ...env, OIDC_CLIENT_SECRET: 'hunter2', OPERATOR_KEY: 'hunter2'.repeat(6) });

    expect(JSON.stringify(config)).not.toContain('hunter2');
  });
});
