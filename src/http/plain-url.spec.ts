import { plainUrl } from './plain-url.js';

describe('plainUrl', () => {
  it.each([
    ['/v1/send', '/v1/send'],
    ['/%761/send', '/v1/send'],
    ['/v%31/%73end?a=%61', '/v1/send?a=%61'],
    ['/v1/app/a%2Fb%7e%7E%2d', '/v1/app/a%2Fb~~-'],
    ['/v1/app/%C3%A9%00%25', '/v1/app/%C3%A9%00%25'],
    ['/v1/%zz%6', '/v1/%zz%6'],
    ['/in/a/%61', '/in/a/%61'],
    ['/%69n/a/b', '/%69n/a/b'],
    ['/v1/a?b=%2E', '/v1/a?b=%2E'],
  ])('%s is %s', (url, plain) => {
    expect(plainUrl(url)).toBe(plain);
  });

  it('decodes all unreserved characters of RFC 3986 and no others', () => {
    for (let code = 0; code < 256; code += 1) {
      const escape = `%${code.toString(16).padStart(2, '0')}`;
      const isUnreserved = /[A-Za-z0-9._~-]/.test(String.fromCharCode(code));
      expect(plainUrl(`/${escape}`)).toBe(isUnreserved ? `/${String.fromCharCode(code)}` : `/${escape}`);
    }
  });
});
