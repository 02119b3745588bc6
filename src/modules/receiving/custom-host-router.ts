import { type AddressSet, addressSet, ipAddress } from '#engine/ip-ranges.js';
import type { HostedRequest } from '#http/adapter.js';
import type { Id } from '#kernel/ids.js';
import type { CustomHosts } from '#modules/domains/contract.js';
import { INGEST_PREFIX } from '#modules/endpoints/contract.js';

export interface CustomHost {
  domainId: Id;
  /** Host name and port that the provider called. */
  host: string;
  /** Original path and query. */
  url: string;
}

/**
 * Routes all requests for custom hosts to the ingest route, regardless of the path. Custom hosts serve nothing else.
 * Without any custom hosts, requests are not examined.
 */
export class CustomHostRouter {
  /** Custom host of each request. Recorded during routing, because routing also rewrites the URL of the request. */
  private readonly called = new WeakMap<object, CustomHost>();
  private readonly proxies: AddressSet | null;
  private hasLed = false;

  constructor(
    private readonly hosts: Pick<CustomHosts, 'isEmpty' | 'serving'>,
    trustProxy: readonly string[],
  ) {
    this.proxies = trustProxy.length > 0 ? addressSet(trustProxy) : null;
  }

  /** Returns the rewritten URL, or `null` for a request that is routed by its path. */
  urlOf(request: HostedRequest): string | null {
    if (this.hosts.isEmpty) return null;
    const { url = '' } = request;
    const host = this.hostOf(request);
    const found = host === null || !url.startsWith('/') ? null : this.hosts.serving(nameIn(host));
    if (host === null || found === null) return null;
    this.hasLed = true;
    this.called.set(request, { domainId: found.domainId, host, url });
    return INGEST_PREFIX + url.slice(1);
  }

  /** Returns the custom host of a request, or `null` if the request was routed by its path. */
  findHost(request: object): CustomHost | null {
    // Uses only the host recorded during routing. A second lookup by the Host header could find a host of another
    // organization.
    return this.hasLed ? (this.called.get(request) ?? null) : null;
  }

  /** Returns the requested host. Uses the last of several forwarded hosts, because the trusted proxy added it. */
  private hostOf({ headers, socket }: HostedRequest): string | null {
    const forwarded = headers['x-forwarded-host'];
    const address = this.proxies === null || forwarded === undefined ? null : ipAddress(socket.remoteAddress ?? '');
    const said = address !== null && this.proxies?.has(address) ? String(forwarded).split(',').at(-1) : undefined;
    const host = (said ?? headers['host'])?.toString().trim().toLowerCase();
    return host === undefined || host === '' ? null : host;
  }
}

function nameIn(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '');
}
