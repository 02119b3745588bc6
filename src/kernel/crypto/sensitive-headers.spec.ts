import { HIDDEN, isSensitive, shownHeaders } from './sensitive-headers.js';

describe('isSensitive', () => {
  it.each([
    'authorization',
    'proxy-authorization',
    'cookie',
    'set-cookie',
    'x-api-key',
    'apikey',
    'x-auth-token',
    'x-gitlab-token',
    'x-amz-security-token',
    'x-goog-api-key',
    'x-goog-iam-authorization-token',
    'x-vercel-protection-bypass',
    'x-vercel-oidc-token',
    'x-secret',
    'client_secret',
    'x_api_key',
    'proxy_authorization',
    'x-password',
    'x-session-id',
    'x-access-key',
    'x-acme-auth',
    'token',
  ])('%s is', (name) => {
    expect([name, isSensitive(name)]).toEqual([name, true]);
  });

  it.each([
    'content-type',
    'x-tenant',
    'webhook-signature',
    'webhook-id',
    'x-hub-signature-256',
    'stripe-signature',
    'x-author',
    'x-request-id',
    'x-tokenizer',
    'etag',
    '',
    '__proto__',
  ])('%s is not', (name) => {
    expect([name, isSensitive(name)]).toEqual([name, false]);
  });
});

describe('shownHeaders', () => {
  it('hides credentials from readers, in any case of the name, and nothing from writers', () => {
    const headers = { Authorization: 'Bearer a', 'x-tenant': '42' };

    expect(shownHeaders(headers, { scope: 'read' })).toEqual({ Authorization: HIDDEN, 'x-tenant': '42' });
    for (const scope of ['write', 'admin'] as const) expect(shownHeaders(headers, { scope })).toEqual(headers);
  });
});
