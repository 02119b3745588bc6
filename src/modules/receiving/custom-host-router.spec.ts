import type { HostedRequest } from '#http/adapter.js';
import { CustomHostRouter } from './custom-host-router.js';

const HOOKS = {
  environmentId: 1,
  domainId: '0190f0a0-0000-0000-0000-00000000000a',
  host: 'hooks.customer.example',
  isServing: true,
};

function arrange({ hosts = [HOOKS], trustProxy = [] as string[] } = {}) {
  const world = { hosts, looks: 0 };
  const called = new CustomHostRouter(
    {
      get isEmpty() {
        return world.hosts.length === 0;
      },
      serving: (host) => {
        world.looks += 1;
        return world.hosts.find((each) => each.host === host) ?? null;
      },
    },
    trustProxy,
  );
  return { world, called };
}

const request = (
  host: string | undefined,
  url = '/stripe?a=1',
  more: Record<string, string> = {},
  remoteAddress = '10.0.0.1',
): HostedRequest => ({ url, headers: { ...(host !== undefined && { host }), ...more }, socket: { remoteAddress } });

describe('CustomHostRouter', () => {
  it.each([
    'hooks.customer.example',
    'HOOKS.Customer.Example',
    'hooks.customer.example:8443',
    'hooks.customer.example.',
    'hooks.customer.example.:443',
  ])('routes %s to the ingest route, and returns the original host', (host) => {
    const { called } = arrange();
    const came = request(host);

    expect(called.urlOf(came)).toBe('/in/stripe?a=1');
    expect(called.findHost(came)).toEqual({ domainId: HOOKS.domainId, host: host.toLowerCase(), url: '/stripe?a=1' });
  });

  it.each(['/v1/keys', '/docs', '/in/acme/stripe', '/health/live', '/', '//x', '/%2e%2e/x'])(
    'routes every path of a custom host: %s',
    (url) => {
      expect(arrange().called.urlOf(request('hooks.customer.example', url))).toBe(`/in/${url.slice(1)}`);
    },
  );

  it.each([
    [undefined, '/a'],
    ['', '/a'],
    ['localhost:3000', '/a'],
    ['hooks.customer.example.evil.example', '/a'],
    ['xhooks.customer.example', '/a'],
    ['hooks.customer.example', '*'],
    ['hooks.customer.example', 'http://hooks.customer.example/a'],
  ])('does not route host %j with %s', (host, url) => {
    const { called } = arrange();
    const came = request(host, url);

    expect(called.urlOf(came)).toBeNull();
    expect(called.findHost(came)).toBeNull();
  });

  it('accepts only the last value of X-Forwarded-Host, and only from a trusted proxy', () => {
    const forwarded = (said: string, from: string) =>
      request('10.0.0.9:3000', '/a', { 'x-forwarded-host': said }, from);
    const { called } = arrange({ trustProxy: ['10.0.0.0/8'] });

    expect(called.urlOf(forwarded('hooks.customer.example', '10.0.0.1'))).toBe('/in/a');
    expect(called.urlOf(forwarded('evil.example, hooks.customer.example', '10.0.0.1'))).toBe('/in/a');
    expect(called.urlOf(forwarded('hooks.customer.example, evil.example', '10.0.0.1'))).toBeNull();
    expect(called.urlOf(forwarded('hooks.customer.example', '192.0.2.1'))).toBeNull();
    expect(arrange().called.urlOf(forwarded('hooks.customer.example', '10.0.0.1'))).toBeNull();
  });

  it('examines no requests while there are no custom hosts', () => {
    const { called, world } = arrange({ hosts: [] });

    expect([called.urlOf(request('hooks.customer.example')), world.looks]).toEqual([null, 0]);
  });

  it('keeps the custom host of a request even if the host is deleted, because its path is not a path of the platform', () => {
    const { called, world } = arrange();
    const came = request('hooks.customer.example');
    called.urlOf(came);
    world.hosts = [];

    expect(called.findHost(came)).toMatchObject({ domainId: HOOKS.domainId });
  });
});
