import fc from 'fast-check';
import { unicodeText } from '../../../test/support/unicode-text.js';
import { type GivenAddress, ingestHost, isReceiveUrl, receiveUrl, resolveAddress } from './receive-url.js';

const BASE = { baseUrl: 'https://hooks.example.com', organizationSlug: 'acme' };
const BELOW = { baseUrl: 'http://Localhost:3000/hooks', organizationSlug: 'acme' };

const pathOf = (given: GivenAddress, base: Parameters<typeof resolveAddress>[1] = BASE): unknown => {
  const resolved = resolveAddress(given, base);
  return 'path' in resolved ? resolved.path : resolved.faults;
};

describe('resolveAddress', () => {
  it.each([
    ['https://hooks.example.com/in/acme/stripe', 'acme/stripe'],
    ['https://hooks.example.com/in/stripe', 'acme/stripe'],
    ['https://hooks.example.com/acme/stripe', 'acme/stripe'],
    ['https://hooks.example.com/stripe', 'acme/stripe'],
    ['https://hooks.example.com/in/acme/stripe/', 'acme/stripe'],
    ['HTTPS://Hooks.Example.COM:443/in/acme/stripe', 'acme/stripe'],
    ['http://hooks.example.com/in/acme/stripe', 'acme/stripe'],
    ['http://hooks.example.com:80/in/acme/stripe', 'acme/stripe'],
    ['https://hooks.example.com', 'acme'],
    ['https://hooks.example.com/', 'acme'],
    ['https://hooks.example.com/in', 'acme'],
    ['https://hooks.example.com/in/', 'acme'],
    ['https://hooks.example.com/in/acme', 'acme'],
    ['https://hooks.example.com/in/acme/', 'acme'],
    ['https://hooks.example.com/in/acme/acme', 'acme/acme'],
    ['https://hooks.example.com/in/in/stripe', 'acme/in/stripe'],
    ['https://hooks.example.com/in/other/stripe', 'acme/other/stripe'],
    ['https://hooks.example.com/in/Acme/Stripe', 'acme/Acme/Stripe'],
    ['https://hooks.example.com/in/acme/a/b/c/d/e/f/g', 'acme/a/b/c/d/e/f/g'],
    ['https://hooks.example.com/in/acme/a.b_c~d-E9', 'acme/a.b_c~d-E9'],
    ['https://hooks.example.com/in/acme/...', 'acme/...'],
  ])('parses the URL %s as %s', (url, path) => {
    expect(pathOf({ url })).toBe(path);
  });

  it.each<[GivenAddress, string, string]>([
    [{ url: 'https://hooks.customer.example/stripe' }, 'stripe', 'stripe'],
    [{ url: 'https://Hooks.Customer.Example/a/b/' }, 'a/b', 'a/b'],
    [{ url: 'https://hooks.customer.example' }, '', 'hooks.customer.example'],
    [{ url: 'https://hooks.customer.example/' }, '', 'hooks.customer.example'],
    [{ url: 'https://hooks.customer.example/in/acme/stripe' }, 'in/acme/stripe', 'in/acme/stripe'],
    [{ slug: 'stripe' }, 'stripe', 'stripe'],
    [{ path: '/acme/stripe' }, 'acme/stripe', 'acme/stripe'],
    [{ path: 'a/b/c/d/e/f/g/h' }, 'a/b/c/d/e/f/g/h', 'a/b/c/d/e/f/g/h'],
    [{ url: 'https://hooks.customer.example/stripe', slug: 'stripe', path: 'stripe' }, 'stripe', 'stripe'],
  ])('on a custom host, parses %j as %j', (given, path, name) => {
    expect(resolveAddress(given, { ...BASE, customHost: 'hooks.customer.example' })).toEqual({ path, name });
  });

  it.each<[GivenAddress]>([
    [{ url: 'https://hooks.example.com/stripe' }],
    [{ url: 'https://hooks.customer.example:8443/stripe' }],
    [{ url: 'https://hooks.customer.example/a?b' }],
    [{ path: '' }],
    [{ path: 'a/b/c/d/e/f/g/h/i' }],
    [{ url: 'https://hooks.customer.example/../a' }],
  ])('on a custom host, rejects %j', (given) => {
    expect(resolveAddress(given, { ...BASE, customHost: 'hooks.customer.example' })).toEqual({
      faults: [expect.anything()],
    });
  });

  it.each([
    ['http://localhost:3000/hooks/in/acme/stripe', 'acme/stripe'],
    ['https://LOCALHOST:3000/hooks/stripe', 'acme/stripe'],
    ['http://localhost:3000/hooks', 'acme'],
    ['http://localhost:3000/hooks/', 'acme'],
    ['http://localhost:3000/stripe', 'acme/stripe'],
    ['http://localhost:3000/hooksy/stripe', 'acme/hooksy/stripe'],
  ])('with a path in BASE_URL, parses %s as %s', (url, path) => {
    expect(pathOf({ url }, BELOW)).toBe(path);
  });

  it.each([
    [{ slug: 'stripe' }, 'acme/stripe'],
    [{ slug: 'acme' }, 'acme/acme'],
    [{ slug: '9-a_b' }, 'acme/9-a_b'],
    [{ slug: 'a'.repeat(64) }, `acme/${'a'.repeat(64)}`],
    [{ path: 'acme/stripe' }, 'acme/stripe'],
    [{ path: '/acme/stripe' }, 'acme/stripe'],
    [{ path: 'stripe' }, 'acme/stripe'],
    [{ path: 'acme' }, 'acme'],
    [{ path: 'in/stripe' }, 'acme/in/stripe'],
    [{ url: 'https://hooks.example.com/in/stripe', slug: 'stripe', path: 'acme/stripe' }, 'acme/stripe'],
    [{ url: null, slug: null, path: 'stripe' }, 'acme/stripe'],
  ])('reads %j as %s', (given, path) => {
    expect(pathOf(given)).toBe(path);
  });

  it.each([
    [{ slug: 'stripe' }, 'stripe'],
    [{ path: 'acme/payments/stripe' }, 'payments/stripe'],
    [{ url: 'https://hooks.example.com' }, 'acme'],
  ])('calls %j %s', (given, name) => {
    expect(resolveAddress(given, BASE)).toMatchObject({ name });
  });

  it('keeps the path of an endpoint whose organization has changed its slug', () => {
    const base = { ...BASE, organizationSlug: 'apex', currentPath: 'acme/stripe' };

    expect(pathOf({ url: 'https://hooks.example.com/in/acme/stripe' }, base)).toBe('acme/stripe');
    expect(pathOf({ url: 'https://hooks.example.com/in/acme/stripe2' }, base)).toBe('apex/acme/stripe2');
    expect(pathOf({ url: 'https://hooks.example.com/in/stripe' }, base)).toBe('apex/stripe');
  });

  it.each<[GivenAddress, string, RegExp]>([
    [{}, 'url', /is required/],
    [{ url: null, slug: null, path: null }, 'url', /is required/],
    [{ url: 'hooks.example.com/in/acme/a' }, 'url', /absolute/],
    [{ url: '/in/acme/a' }, 'url', /absolute/],
    [{ url: 'ftp://hooks.example.com/a' }, 'url', /absolute/],
    [{ url: 'https://user:pass@hooks.example.com/a' }, 'url', /user name/],
    [{ url: 'https://hooks.example.com\\@evil.example/a' }, 'url', /absolute/],
    [{ url: 'https://[::1/a' }, 'url', /absolute/],
    [{ url: 'https://evil.example/in/acme/a' }, 'url', /must be on hooks\.example\.com/],
    [{ url: 'https://hooks.example.com.evil.example/a' }, 'url', /must be on/],
    [{ url: 'https://hooks.example.com:8443/a' }, 'url', /must be on/],
    [{ url: 'https://hooks.example.com?a=1' }, 'url', /absolute/],
    [{ url: 'https://hooks.example.com/a?b=1' }, 'url', /no query/],
    [{ url: 'https://hooks.example.com/a#b' }, 'url', /no fragment/],
    [{ url: 'https://hooks.example.com/a%2Fb' }, 'url', /no percent-encoding/],
    [{ url: 'https://hooks.example.com/in/acme/../other' }, 'url', /\. or \.\./],
    [{ url: 'https://hooks.example.com/in/./a' }, 'url', /\. or \.\./],
    [{ url: 'https://hooks.example.com/in//a' }, 'url', /empty segment/],
    [{ url: 'https://hooks.example.com//' }, 'url', /empty segment/],
    [{ url: 'https://hooks.example.com/in/acme/a//' }, 'url', /empty segment/],
    [{ url: 'https://hooks.example.com/in/acme/a b' }, 'url', /segments of 1 to 64/],
    [{ url: 'https://hooks.example.com/in/acme/ä' }, 'url', /segments of 1 to 64/],
    [{ url: 'https://hooks.example.com/in/acme/a\nb' }, 'url', /segments of 1 to 64/],
    [{ url: `https://hooks.example.com/in/acme/${'a'.repeat(65)}` }, 'url', /segments of 1 to 64/],
    [{ url: 'https://hooks.example.com/in/acme/b/c/d/e/f/g/h/i' }, 'url', /at most 8/],
    [{ url: 'https://hooks.example.com/a/b/c/d/e/f/g/h' }, 'url', /at most 8/],
    [{ path: '' }, 'path', /empty segment/],
    [{ path: '/' }, 'path', /empty segment/],
    [{ path: 'acme/../b' }, 'path', /\. or \.\./],
    [{ path: 'acme/a?b' }, 'path', /no query/],
    [{ path: 'acme/%41' }, 'path', /percent/],
    [{ slug: '' }, 'slug', /lower-case/],
    [{ slug: 'Stripe' }, 'slug', /lower-case/],
    [{ slug: '-a' }, 'slug', /begin with/],
    [{ slug: 'a/b' }, 'slug', /lower-case/],
    [{ slug: 'a\n' }, 'slug', /lower-case/],
    [{ slug: 'a'.repeat(65) }, 'slug', /1 to 64/],
    [{ slug: 'stripe', path: 'acme/github' }, 'path', /leads to acme\/github/],
    [{ url: 'https://hooks.example.com', slug: 'stripe' }, 'slug', /give one of/],
  ])('refuses %j at %s', (given, path, message) => {
    expect(pathOf(given)).toEqual([{ path, message: expect.stringMatching(message) }]);
  });

  it('reports the errors in all given parts', () => {
    expect(pathOf({ url: 'x', slug: 'X', path: '%' })).toMatchObject([
      { path: 'url' },
      { path: 'slug' },
      { path: 'path' },
    ]);
  });

  it('never throws, and an accepted path belongs to its own organization and stays the same when parsed again', () => {
    const texts = fc.oneof(
      unicodeText({ maxLength: 60 }),
      fc.webUrl(),
      fc
        .array(fc.constantFrom('/', 'in', 'acme', '..', 'a', '%2e', '?', '//', 'https://hooks.example.com'), {
          maxLength: 12,
        })
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.record({ url: texts, path: texts }, { requiredKeys: [] }), (given) => {
        const resolved = resolveAddress(given, BASE);
        if ('faults' in resolved) return expect(resolved.faults.length).toBeGreaterThan(0);
        expect(resolved.path).toMatch(/^acme(?:\/[A-Za-z0-9._~-]{1,64}){0,7}$/);
        expect(pathOf({ url: receiveUrl(BASE.baseUrl, resolved.path), path: resolved.path })).toBe(resolved.path);
      }),
    );
  });
});

describe('where requests go', () => {
  it('the URL of an endpoint is below BASE_URL', () => {
    expect(receiveUrl('https://example.com/hooks', 'acme/stripe')).toBe('https://example.com/hooks/in/acme/stripe');
    expect(ingestHost(BELOW.baseUrl)).toBe('localhost:3000');
  });

  it.each([
    ['https://hooks.example.com/in/acme/a', true],
    ['http://hooks.example.com/in/b', true],
    ['https://hooks.example.com/inner/b', false],
    ['https://hooks.example.com/v1/send', false],
    ['https://other.example.com/in/acme/a', false],
  ])('receives at %s: %s', (url, expected) => {
    expect(isReceiveUrl(new URL(url), BASE.baseUrl)).toBe(expected);
  });
});
