import fc from 'fast-check';
import { forwardedUrl, withoutParameters } from './forwarded-url.js';

const EVERYTHING = { path: true, query: true };

describe('forwardedUrl', () => {
  it.each([
    ['https://a.example', '', '', 'https://a.example/'],
    ['https://a.example/', '/x', '', 'https://a.example/x'],
    ['https://a.example/base', '/x/', 'q=1', 'https://a.example/base/x/?q=1'],
    ['https://a.example/base/', '/x', '', 'https://a.example/base/x'],
    ['https://a.example/base/', '', '', 'https://a.example/base/'],
    ['https://a.example/base?t=1', '/x', 'a=1&a=2', 'https://a.example/base/x?t=1&a=1&a=2'],
    ['https://a.example/base?t=1', '', '', 'https://a.example/base?t=1'],
    ['https://a.example/base', '/a%2Fb%20c', 'q=%20+%zz', 'https://a.example/base/a%2Fb%20c?q=%20+%zz'],
    ['https://a.example', '//evil.example/x', '', 'https://a.example//evil.example/x'],
    ['https://a.example/base', '/@evil.example:80/#x', '', 'https://a.example/base/@evil.example:80/%23x'],
    ['https://a.example/base', '/x', '//evil.example#y', 'https://a.example/base/x?//evil.example%23y'],
    ['https://a.example/base', '/.../..a/b..', '', 'https://a.example/base/.../..a/b..'],
    ['https://a.example/base', '/%0d%0ax-a:%20b', 'a=%0d%0ab', 'https://a.example/base/%0d%0ax-a:%20b?a=%0d%0ab'],
  ])('%s with %j and %j is %s', (target, path, query, expected) => {
    expect(forwardedUrl(new URL(target), { path, query }, EVERYTHING)?.href).toBe(expected);
  });

  it.each([
    '/..',
    '/../admin',
    '/a/../../admin',
    '/%2e%2e/admin',
    '/.%2E/admin',
    '/%252e%252e/admin',
    '/..%2fadmin',
    '/..%2Fadmin',
    '/a%2f..%2f..%2fadmin',
    '/..%5cadmin',
    '/..\\admin',
    '/..%252f..%252fadmin',
    '/..;/admin',
    '/..%3b/admin',
    '/..;a=b/admin',
    '/..%00/admin',
    '/..%20/admin',
    '/%09../admin',
    '/%25252525252525252e./admin',
  ])('%s is refused, because it could lead out of the path of the target', (path) => {
    expect(forwardedUrl(new URL('https://a.example/base'), { path, query: '' }, EVERYTHING)).toBeNull();
    expect(
      forwardedUrl(new URL('https://a.example/base'), { path, query: '' }, { path: false, query: true })?.href,
    ).toBe('https://a.example/base');
  });

  it('path and query are appended only if they are to be forwarded', () => {
    const target = new URL('https://a.example/base');
    const received = { path: '/x', query: 'a=b' };

    expect(forwardedUrl(target, received, { path: false, query: true })?.href).toBe('https://a.example/base?a=b');
    expect(forwardedUrl(target, received, { path: true, query: false })?.href).toBe('https://a.example/base/x');
    expect(forwardedUrl(target, received, { path: false, query: false })).toBe(target);
  });

  it.each([
    'token=evil',
    'TOKEN=evil',
    '%74oken=evil',
    'token[]=evil',
    'token[x[y]=evil',
    '+token=evil',
    '?token=evil',
    'token%00x=evil',
    'x=1;token=evil',
    'token',
  ])('the received %s does not replace a parameter of the target', (query) => {
    const url = forwardedUrl(
      new URL('https://a.example/?token=own'),
      { path: '', query: `a=1&${query}&b=2` },
      EVERYTHING,
    );

    expect(url?.search).toBe('?token=own&a=1&b=2');
  });

  it.each([
    ['api_key', 'api[key'],
    ['api_key', 'api.key'],
    ['api_key', 'api+key'],
    ['api.key', 'api_key'],
    ['api[key', 'api_key'],
    ['list[]', 'list'],
  ])('the parameter %s of the target is not replaced by %s, which PHP reads as the same name', (own, theirs) => {
    const url = forwardedUrl(
      new URL(`https://a.example/?${own}=own`),
      { path: '', query: `${theirs}=evil&&b=2` },
      EVERYTHING,
    );

    expect(url?.search).toBe(`?${own}=own&&b=2`);
  });

  it("keeps the target's own URL", () => {
    const target = new URL('https://a.example/base?t=1');

    forwardedUrl(target, { path: '/x', query: 'q' }, EVERYTHING);

    expect(target.href).toBe('https://a.example/base?t=1');
  });

  it("no received path or query leads to another host, or outside the target's path", () => {
    const segment = fc.stringMatching(/^(?:[!$&'()*+,:;=@A-Za-z0-9.._~|"<>^`{}\\-]|%[0-9A-F]{2}|%2e|%2f|%25){0,12}$/);
    const query = fc.stringMatching(/^[!-~]{0,30}$/);
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 5 }), query, (segments, text) => {
        const url = forwardedUrl(
          new URL('https://a.example/base/in'),
          { path: segments.map((each) => `/${each}`).join(''), query: text },
          EVERYTHING,
        );
        if (url === null) return;
        expect(url.origin).toBe('https://a.example');
        expect(url.pathname.startsWith('/base/in')).toBe(true);
        expect(new URL(decodeURI(url.pathname.replace(/%(?![0-7][0-9a-f])/gi, '%25')), url).href).toMatch(
          /^https:\/\/a\.example\/base\/in/,
        );
        expect(url.hash).toBe('');
      }),
    );
  });
});

describe('withoutParameters', () => {
  it.each([
    ['a=1&token=s&b=2', 'a=1&b=2'],
    ['token=s', ''],
    ['%74oken=s&a=1', 'a=1'],
    ['a=1&token', 'a=1'],
    ['tokens=1', 'tokens=1'],
    ['&&a=1&?token=s&', '&&a=1&'],
    ['&'.repeat(15_000), '&'.repeat(15_000)],
    ['', ''],
  ])('%s becomes %j', (query, expected) => {
    expect(withoutParameters(query, new Set(['token']))).toBe(expected);
  });

  it('keeps the query as it is if no name is given', () => {
    expect(withoutParameters('a=%zz&&b', new Set())).toBe('a=%zz&&b');
  });
});
