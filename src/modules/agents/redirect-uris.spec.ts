import { isRegistered, originOf, redirectFault, redirectTo } from './redirect-uris.js';

describe('redirectFault', () => {
  it.each([
    'https://client.example.com/callback', 'https://client.example.com/callback?x=1', 'http://127.0.0.1:49152/cb', 'http://[::1]/cb', 'http://localhost/cb', 'cursor://anysphere.cursor/callback',
  ])('%s may be registered', (uri) => {
    expect(redirectFault(uri, ['cursor'])).toBeNull();
  });

  it.each([
    'http://client.example.com/cb', 'http://127.0.0.1.example.com/cb', 'https://client.example.com/#frag', 'https://client.example.com/cb#', 'https://user@client.example.com/',
    'https://*.example.com/cb', 'https://client.example.com\\@evil.example/', 'javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'other://x', '/relative', '', 7, null,
    'https://client.example.com/\ncb', `https://client.example.com/${'x'.repeat(2000)}`,
  ])('%s may not', (uri) => {
    expect(redirectFault(uri, ['cursor'])).not.toBeNull();
  });

  it('a scheme that runs scripts stays refused, whatever is listed', () => {
    expect(redirectFault('javascript:alert(1)', ['javascript'])).not.toBeNull();
  });
});

describe('isRegistered', () => {
  const registered = ['https://client.example.com/cb', 'http://127.0.0.1:1234/cb'];

  it.each(['https://client.example.com/cb', 'http://127.0.0.1:1234/cb', 'http://127.0.0.1:9/cb', 'http://127.0.0.1/cb'])('%s is', (uri) => {
    expect(isRegistered(uri, registered)).toBe(true);
  });

  it.each([
    'https://client.example.com/cb/', 'https://client.example.com/cb?x=1', 'https://client.example.com:444/cb', 'HTTPS://client.example.com/cb', 'https://client.example.com/CB',
    'https://client.example.com/cb/../evil', 'https://client.example.com.evil.example/cb', 'http://localhost:1234/cb', 'http://127.0.0.1:1234/other', 'https://127.0.0.1/cb',
    'http://127.0.0.1:80@evil.example/cb',
  ])('%s is not', (uri) => {
    expect(isRegistered(uri, registered)).toBe(false);
  });
});

it('parameters are added to those that are there, and what is null is left out', () => {
  expect(redirectTo('https://a.example/cb?x=1', { code: 'a b', state: null })).toBe('https://a.example/cb?x=1&code=a+b');
  expect(redirectTo('https://a.example/cb', { code: '1' })).toBe('https://a.example/cb?code=1');
});

it('the origin of a private scheme is the scheme', () => {
  expect([originOf('https://a.example:8443/cb'), originOf('cursor://x/y')]).toEqual(['https://a.example:8443', 'cursor:']);
});
