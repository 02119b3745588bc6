import fc from 'fast-check';
import { HOSTILE_URLS } from '../../test/support/hostile-urls.js';
import type { EgressPolicy, EgressPolicyOptions } from './egress-policy.js';
import { addressRefusal, checkUrl, egressPolicy, originRefusal } from './egress-policy.js';

const policy = (options: Partial<EgressPolicyOptions> = {}): EgressPolicy =>
  egressPolicy({ allowCidrs: [], allowHttp: false, ...options });

const CLOSED = policy({ allowHttp: true });
const LOOPBACK_OPEN = policy({ allowHttp: true, allowCidrs: ['127.0.0.0/8'] });
const INTRANET_OPEN = policy({ allowHttp: true, allowCidrs: ['10.20.0.0/16', 'fd12::/32'] });

const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);
const refusal = (address: string, by: EgressPolicy = CLOSED, port = 443): string | null =>
  addressRefusal(address, familyOf(address), port, by);

describe('hostile URLs', () => {
  it.each(HOSTILE_URLS.map(({ url, why, resolvesTo }) => ({ url: url.slice(0, 80), why, raw: url, resolvesTo })))(
    'refuses $url ($why)',
    ({ raw, resolvesTo }) => {
      const verdict = checkUrl(raw, CLOSED);

      if (resolvesTo === undefined) {
        expect(verdict).toEqual({
          ok: false,
          reason: expect.stringMatching(/\w+.*\.$/s),
          check: expect.stringMatching(/^(schema|connectivity)$/),
        });
      } else {
        expect(verdict.ok).toBe(true);
        expect(resolvesTo.some((address) => refusal(address) !== null)).toBe(true);
      }
    },
  );

  it('the list has at least 60 URLs, each once', () => {
    expect(new Set(HOSTILE_URLS.map(({ url }) => url)).size).toBe(HOSTILE_URLS.length);
    expect(HOSTILE_URLS.length).toBeGreaterThanOrEqual(60);
  });
});

describe('checkUrl', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://EXAMPLE.com:443/Hook?a=1', 'https://example.com/Hook?a=1'],
    ['https://example.com./hook', 'https://example.com/hook'],
    ['https://example.com.:8443/hook', 'https://example.com:8443/hook'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://hooks.example.com:40123/', 'https://hooks.example.com:40123/'],
    ['https://93.184.215.14/hook', 'https://93.184.215.14/hook'],
    ['https://[2606:2800:21f:cb07::1]/', 'https://[2606:2800:21f:cb07::1]/'],
    ['https://[::ffff:93.184.215.14]/', 'https://[::ffff:5db8:d70e]/'],
    ['https://example.com\\@127.0.0.1/', 'https://example.com/@127.0.0.1/'],
    ['https://my_host.example.com/', 'https://my_host.example.com/'],
    [`https://example.com/${'a'.repeat(2028)}`, `https://example.com/${'a'.repeat(2028)}`],
  ])('reads %s as %s', (raw, href) => {
    const verdict = checkUrl(raw, policy());

    expect(verdict.ok && verdict.url.href).toBe(href);
  });

  it('allows plain http only with EGRESS_ALLOW_HTTP', () => {
    expect(checkUrl('http://example.com/', policy())).toEqual({
      ok: false,
      reason: expect.stringContaining('EGRESS_ALLOW_HTTP'),
      check: 'connectivity',
    });
    expect(checkUrl('http://example.com/', CLOSED).ok).toBe(true);
    expect(checkUrl('http://example.com:8080/', CLOSED).ok).toBe(true);
  });

  it.each([
    [443, true],
    [8443, true],
    [8080, true],
    [3000, true],
    [65535, true],
    [1024, true],
    [0, false],
    [21, false],
    [22, false],
    [80, false],
    [465, false],
    [587, false],
    [1023, false],
    [2375, false],
    [6443, false],
    [10250, false],
  ])('port %i of a public name: %s', (port, isOpen) => {
    expect(checkUrl(`https://example.com:${port}/`, policy()).ok).toBe(isOpen);
    expect(refusal('93.184.215.14', policy(), port) === null).toBe(isOpen);
  });

  it('never accepts a URL whose host is a refused address, in any spelling', () => {
    const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
    const spell = (n: number, how: number): string =>
      [String(n), `0x${n.toString(16)}`, `0${n.toString(8)}`][how] ?? '';
    fc.assert(
      fc.property(octets, fc.tuple(fc.nat(2), fc.nat(2), fc.nat(2), fc.nat(2)), (ip, how) => {
        const raw = ip.map((octet, index) => spell(octet, how[index] ?? 0)).join('.');
        const expected = refusal(ip.join('.')) === null;
        expect(checkUrl(`https://${raw}/`, CLOSED).ok).toBe(expected);
        expect(checkUrl(`https://[::ffff:${ip.join('.')}]/`, CLOSED).ok).toBe(expected);
      }),
    );
  });
});

describe('what EGRESS_ALLOW_CIDRS opens', () => {
  it.each([
    ['http://127.0.0.1:9/', LOOPBACK_OPEN, true],
    ['http://127.0.0.1:22/', LOOPBACK_OPEN, true],
    ['http://[::1]:3999/', LOOPBACK_OPEN, true],
    ['http://[::ffff:127.0.0.1]:3999/', LOOPBACK_OPEN, true],
    ['http://localhost:3999/', LOOPBACK_OPEN, true],
    ['http://localhost.:22/', LOOPBACK_OPEN, true],
    ['https://app.localhost:3999/', LOOPBACK_OPEN, true],
    ['https://10.20.3.4:5432/', INTRANET_OPEN, true],
    ['https://[fd12::9]:6379/', INTRANET_OPEN, true],
    ['https://vault.internal:8200/', INTRANET_OPEN, true],
    ['https://receiver:3000/', INTRANET_OPEN, true],
    // Allowing loopback allows only this host, and allowing a network allows only that network. Neither allows metadata
    // services, plain http:, or other ports of public addresses.
    ['https://receiver:3000/', LOOPBACK_OPEN, false],
    ['https://vault.internal/', LOOPBACK_OPEN, false],
    ['https://10.20.3.4/', LOOPBACK_OPEN, false],
    ['http://localhost:3999/', INTRANET_OPEN, false],
    ['http://127.0.0.1:3999/', INTRANET_OPEN, false],
    ['https://10.21.0.1/', INTRANET_OPEN, false],
    ['http://metadata.google.internal/', INTRANET_OPEN, false],
    ['http://metadata/', INTRANET_OPEN, false],
    ['http://0.0.0.0:3999/', LOOPBACK_OPEN, false],
    ['https://example.com:22/', INTRANET_OPEN, false],
    ['gopher://127.0.0.1/', LOOPBACK_OPEN, false],
    ['http://user@127.0.0.1:3999/', LOOPBACK_OPEN, false],
    ['http://127.0.0.1:3999/', policy({ allowCidrs: ['127.0.0.0/8'] }), false],
  ])('%s', (url, by, isOpen) => {
    expect(checkUrl(url, by).ok).toBe(isOpen);
  });

  it('treats IPv4 and IPv6 loopback as one', () => {
    expect(refusal('::1', policy({ allowCidrs: ['127.0.0.1'] }), 3999)).toBeNull();
    expect(refusal('127.0.0.1', policy({ allowCidrs: ['::1/128'] }), 3999)).toBeNull();
    expect(refusal('127.0.0.2', policy({ allowCidrs: ['::1/128'] }), 3999)).not.toBeNull();
  });

  it('keeps the address families apart', () => {
    expect(refusal('10.0.0.1', policy({ allowCidrs: ['::/0'] }))).not.toBeNull();
    expect(refusal('fd00::1', policy({ allowCidrs: ['0.0.0.0/0'] }))).not.toBeNull();
  });

  it.each([
    ['64:ff9b::10.0.0.1'],
    ['64:ff9b:1:a00:0:100::'],
    ['64:ff9b:1::10.0.0.1'],
    ['2002:a00:1::'],
    ['2001:0:4136:e378:8000:63bf:f5ff:fffe'],
    ['::10.0.0.1'],
    ['::ffff:0:10.0.0.1'],
  ])('%s stays closed when only its own network is open, but not the address behind the translator', (address) => {
    expect(refusal(address, policy({ allowCidrs: ['::/0'] }))).not.toBeNull();
    expect(refusal(address, policy({ allowCidrs: ['::/0', '10.0.0.0/8'] }))).toBeNull();
  });

  it('opens NAT64 to public addresses for an IPv6-only cluster', () => {
    const nat64 = policy({ allowCidrs: ['64:ff9b::/96'] });

    expect(refusal('64:ff9b::93.184.215.14', nat64)).toBeNull();
    expect(refusal('64:ff9b::169.254.169.254', nat64)).not.toBeNull();
  });

  it.each([
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    'example.com',
    '',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::ffff:10.0.0.0/104',
    'fe80::1%eth0',
  ])('names the entry %j, which is no network', (cidr) => {
    expect(() => policy({ allowCidrs: ['10.0.0.0/8', cidr] })).toThrow(
      new TypeError(`"${cidr}" is not a network: write it like 10.0.0.0/8 or fd00::/8.`),
    );
  });
});

describe('addressRefusal', () => {
  // Each case: the first and the last address of a blocked range, and the public addresses next to the range.
  it.each([
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['168.63.129.16', '168.63.129.16'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.31.196.0', '192.31.196.255'],
    ['192.52.193.0', '192.52.193.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['192.175.48.0', '192.175.48.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '239.255.255.255'],
    ['240.0.0.0', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['::2', '::ffff:ffff'],
    ['::ffff:0:0:0', '::ffff:0:ffff:ffff'],
    ['64:ff9b::', '64:ff9b::ffff:ffff'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['100::', '100::ffff:ffff:ffff:ffff'],
    ['100:0:0:1::', '100:0:0:1:ffff::'],
    ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::', '2001:db8:ffff::'],
    ['2002::', '2002:ffff::'],
    ['2620:4f:8000::', '2620:4f:8000:ffff::'],
    ['3fff::', '3fff:fff:ffff::'],
    ['4000::', '5fff::'],
    ['5f00::', '5f00:ffff::'],
    ['fc00::', 'fdff:ffff::'],
    ['fe80::', 'febf:ffff::'],
    ['fec0::', 'feff:ffff::'],
    ['ff00::', 'ffff:ffff::'],
  ])('refuses %s to %s', (first, last) => {
    expect(refusal(first)).toMatch(/^The address is .* EGRESS_ALLOW_CIDRS\.$/);
    expect(refusal(last)).toMatch(/^The address is .* EGRESS_ALLOW_CIDRS\.$/);
    if (!first.includes(':')) {
      expect(refusal(`::ffff:${first}`)).toBe(refusal(first));
      expect(refusal(`::ffff:${last}`)).toBe(refusal(last));
    }
  });

  it.each([
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '191.255.255.255',
    '192.0.1.0',
    '192.0.3.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '203.0.112.255',
    '203.0.114.0',
    '223.255.255.255',
    '8.8.8.8',
    '::ffff:8.8.8.8',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:db7:ffff::',
    '2001:db9::',
    '2003::1',
    '2606:4700::1111',
    '2a00::1',
    '3ffe::1',
  ])('lets %s through', (address) => {
    expect(refusal(address)).toBeNull();
  });

  it.each(['', 'localhost', '1.2.3', '1.2.3.4.5', 'fe80::1%eth0', '2606:4700::1111%1', '0x7f.1', '::1]'])(
    'refuses %j, which is no address',
    (address) => {
      expect(addressRefusal(address, 4, 443, CLOSED)).toBe('The address is not a valid IP address.');
      expect(addressRefusal(address, 6, 443, CLOSED)).toBe('The address is not a valid IP address.');
    },
  );

  it('does not repeat the address, so that a caller cannot probe names of the internal network', () => {
    expect(refusal('10.9.8.7')).not.toContain('10.9.8.7');
  });
});

describe('own listeners', () => {
  const own = policy({
    allowHttp: true,
    allowCidrs: ['0.0.0.0/0', '::/0'],
    ownListeners: [
      { address: '0.0.0.0', port: 3000 },
      { address: '192.168.7.7', port: 3000 },
      { address: 'fd00:0:0::7', port: 2525 },
    ],
  });

  it.each([
    ['127.0.0.1', 3000],
    ['127.9.9.9', 2525],
    ['::1', 3000],
    ['0.0.0.0', 3000],
    ['::', 2525],
    ['192.168.7.7', 2525],
    ['fd00::7', 3000],
    ['::ffff:127.0.0.1', 3000],
    ['::ffff:192.168.7.7', 3000],
    ['64:ff9b::127.0.0.1', 3000],
    ['::127.0.0.1', 3000],
  ])('%s port %i stays closed in any case', (address, port) => {
    expect(refusal(address, own, port)).not.toBeNull();
    expect(checkUrl(`http://${address.includes(':') ? `[${address}]` : address}:${port}/`, own).ok).toBe(false);
  });

  it('another port, or the same port of another host, is open', () => {
    expect(refusal('127.0.0.1', own, 3001)).toBeNull();
    expect(refusal('192.168.7.8', own, 3000)).toBeNull();
  });
});

describe('originRefusal', () => {
  it('checks a host with and without the brackets of an IPv6 literal', () => {
    expect(originRefusal({ protocol: 'https:', hostname: '::1', port: '' }, CLOSED)).not.toBeNull();
    expect(originRefusal({ protocol: 'https:', hostname: '[::1]', port: '' }, CLOSED)).not.toBeNull();
    expect(originRefusal({ protocol: 'https:', hostname: '2606:4700::1111', port: '' }, CLOSED)).toBeNull();
  });
});
