import { type AddressSet, addressSet, ipAddress } from '#engine/ip-ranges.js';
import type { HostedRequest } from '#http/adapter.js';
import type { Id } from '#kernel/ids.js';
import type { CustomHosts } from '#modules/domains/contract.js';
import { INGEST_PREFIX } from '#modules/endpoints/contract.js';

/** A customer's own host that a request came to. */
export interface CustomHost {
  domainId: Id;
  /** With the port, as the provider called it. */
  host: string;
  /** The path and query as they came. */
  url: string;
}

/**
 * Leads requests to customers' own hosts to the ingest route, whatever their path is: nothing else of this service is to be
 * found on such a host. While there is no such host no request is looked at.
 */
export class CustomHostRouter {
  /** By the request itself, whose URL says by then where it was led. */
  private readonly called = new WeakMap<object, CustomHost>();
  private readonly proxies: AddressSet | null;
  private hasLed = false;

  constructor(
    private readonly hosts: Pick<CustomHosts, 'isEmpty' | 'serving'>,
    trustProxy: readonly string[],
  ) {
    this.proxies = trustProxy.length > 0 ? addressSet(trustProxy) : null;
  }

  /** Where the request goes instead; null for one that goes by its path. */
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

  /** The host that a request was led from; null for one that went by its path. */
  findHost(request: object): CustomHost | null {
    // Whatever has become of the host since: on the platform's own the path would be somebody else's.
    return this.hasLed ? (this.called.get(request) ?? null) : null;
  }

  /** The Host header, or what a proxy that is trusted says was called: the last of its words, which nobody else wrote. */
  private hostOf({ headers, socket }: HostedRequest): string | null {
    const forwarded = headers['x-forwarded-host'];
    const address = this.proxies === null || forwarded === undefined ? null : ipAddress(socket.remoteAddress ?? '');
    const said = address !== null && this.proxies?.has(address) ? String(forwarded).split(',').at(-1) : undefined;
    const host = (said ?? headers['host'])?.toString().trim().toLowerCase();
    return host === undefined || host === '' ? null : host;
  }
}

/** Without the port, and without the dot that a name may end with. */
function nameIn(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '');
}
