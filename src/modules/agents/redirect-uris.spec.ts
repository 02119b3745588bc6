import { isRegistered, originOf, redirectFault, redirectTo } from './redirect-uris.js';

describe('redirectFault', () => {
  it.each([
    'https://client.example.com/callback',
    'https://client.example.com/callback?x=1',
    'http://127.0.0.1:49152/cb',
    'http://[::1]/cb',
    'http://localhost/cb',
    'cursor://anysphere.cursor/callback',
  ])('%s may be registered', (uri) => {
    expect(redirectFault(uri, ['cursor'])).toBeNull();
  });

  it.each([
    'http://client.example.com/cb',
    'http://127.0.0.1.example.com/cb',
    'https://client.example.com/#frag',
    'https://client.example.com/cb#',
    'https://user@client.example.com/',
    'https://*.example.com/cb',
    'https://client.example.com\\@evil.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'other://x',
    '/relative',
    '',
    7,
    null,
    'https://client.example.com/\ncb',
    `https://client.example.com/${'x'.repeat(2000)}`,
  ])('%s may not', (uri) => {
    expect(redirectFault(uri, ['cursor'])).not.toBeNull();
  });

  it('a scheme that runs scripts is rejected even if the operator lists it', () => {
    expect(redirectFault('javascript:alert(1)', ['javascript'])).not.toBeNull();
  });
});

describe('the host of a redirect URI', () => {
  it.each([
    'https://a;script-src.example.com/cb',
    'https://a,b.example.com/cb',
    "https://'none'.example.com/cb",
    'https://a&b.example.com/',
    'https://a(b).example.com/',
    'https://a$b.example/',
    'https://a=b.example/',
    'https://client.example.com;form-action=x/cb',
    'https://client.example.com%3b/cb',
    'https://client%2eexample.com/cb',
    'https://%65xample.com/cb',
    'https://0x7f.1/cb',
    'https://2130706433/cb',
    'https:client.example.com/cb',
    'https:/client.example.com/cb',
    'https:///client.example.com/cb',
    'https://-client.example.com/',
    'https://a..b/',
    'http://127.1/cb',
    'http:localhost/cb',
    'http://[::1%25eth0]/cb',
    `https://${'a.'.repeat(130)}example.com/`,
  ])('%s may not be registered', (uri) => {
    expect(redirectFault(uri, [])).not.toBeNull();
  });

  it.each([
    'https://Client.Example.com/cb',
    'https://client.example.com:8443',
    'https://client.example.com?x=;,',
    'https://client.example.com/a;b,c',
    'https://xn--bcher-kva.example/cb',
    'https://_app.example.com/',
    'https://192.0.2.7/cb',
    'https://[2001:db8::1]:8443/cb',
    'http://LOCALHOST:1/',
    'http://127.0.0.1/',
  ])('%s may', (uri) => {
    expect(redirectFault(uri, [])).toBeNull();
  });

  it.each(['https://a;script-src.example.com/', 'https://a,b.example/', "https://'none'/"])(
    'no content security policy is built from %s',
    (uri) => {
      expect(() => originOf(uri)).toThrow('no host');
    },
  );

  it('a content security policy contains only the parsed origin', () => {
    expect([
      originOf('https://A.example/x;y'),
      originOf('https://a.example:443/?q=;'),
      originOf('http://[::1]:9/;'),
    ]).toEqual(['https://a.example', 'https://a.example', 'http://[::1]:9']);
  });
});

describe('isRegistered', () => {
  const registered = ['https://client.example.com/cb', 'http://127.0.0.1:1234/cb'];

  it.each([
    'https://client.example.com/cb',
    'http://127.0.0.1:1234/cb',
    'http://127.0.0.1:9/cb',
    'http://127.0.0.1/cb',
  ])('%s is', (uri) => {
    expect(isRegistered(uri, registered)).toBe(true);
  });

  it.each([
    'https://client.example.com/cb/',
    'https://client.example.com/cb?x=1',
    'https://client.example.com:444/cb',
    'HTTPS://client.example.com/cb',
    'https://client.example.com/CB',
    'https://client.example.com/cb/../evil',
    'https://client.example.com.evil.example/cb',
    'http://localhost:1234/cb',
    'http://127.0.0.1:1234/other',
    'https://127.0.0.1/cb',
    'http://127.0.0.1:80@evil.example/cb',
  ])('%s is not', (uri) => {
    expect(isRegistered(uri, registered)).toBe(false);
  });
});

it('new parameters are appended to existing ones, and null values are omitted', () => {
  expect(redirectTo('https://a.example/cb?x=1', { code: 'a b', state: null })).toBe(
    'https://a.example/cb?x=1&code=a+b',
  );
  expect(redirectTo('https://a.example/cb', { code: '1' })).toBe('https://a.example/cb?code=1');
});

it('the origin of a private scheme is the scheme', () => {
  expect([originOf('https://a.example:8443/cb'), originOf('cursor://x/y')]).toEqual([
    'https://a.example:8443',
    'cursor:',
  ]);
});
