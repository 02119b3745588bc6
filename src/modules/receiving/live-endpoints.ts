import { Injectable } from '@nestjs/common';
import { Clock } from '#kernel/clock.js';
import { Cache } from '#kernel/concurrency/cache.js';
import { Notifications } from '#kernel/database/notifications.js';
import type { Id } from '#kernel/ids.js';
import { Environments } from '#modules/auth/environments/environments.js';
import { type EndpointAddress } from '#modules/endpoints/contract.js';
import { EndpointConfigurations } from '#modules/endpoints/endpoint-configurations.js';
import { Presets } from '#modules/endpoints/presets.js';
import { type EndpointSummary } from './contract.js';
import { type LiveEndpoint, liveEndpoint } from './live-endpoint.js';

const ENDPOINTS_MAX = 5_000;
const PATHS_MAX = 20_000;
/**
 * Maximum number of path segments examined. An endpoint's path has at most eight. Further segments belong to the path
 * of the request.
 */
const SEGMENTS_MAX = 9;
const PATH_LENGTH_MAX = 1_024;
const ID_LENGTH = 36;
/**
 * Matches dot segments, which URL parsers resolve. They could point outside the path of a destination that mirrors
 * paths.
 */
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i;

interface Found {
  endpoint: LiveEndpoint;
  /** The part of the path after the endpoint's path. */
  rest: string;
}

/** Cache of compiled endpoints. A change invalidates an entry on every node. No entry is older than five seconds. */
@Injectable()
export class LiveEndpoints {
  private readonly byId: Cache<LiveEndpoint | null>;
  private readonly byPath: Cache<EndpointAddress | null>;
  private readonly byDomainPath: Cache<EndpointAddress | null>;

  constructor(
    private readonly configurations: EndpointConfigurations,
    private readonly presets: Presets,
    private readonly environments: Environments,
    clock: Clock,
    notifications: Notifications,
  ) {
    const nowMs = (): number => clock.nowMs();
    this.byId = new Cache((key) => this.load(key), { entriesMax: ENDPOINTS_MAX, nowMs });
    this.byPath = new Cache((path) => this.configurations.at(prefixesOf(path), null), { entriesMax: PATHS_MAX, nowMs });
    this.byDomainPath = new Cache(
      (key) => this.configurations.at(['', ...prefixesOf(key.slice(ID_LENGTH))], key.slice(0, ID_LENGTH)),
      { entriesMax: PATHS_MAX, nowMs },
    );
    notifications.on('endpoint', (key) => {
      if (key === '*') this.byId.clear();
      else this.byId.drop(key);
      // After a change, a cached path may belong to another endpoint, for example to one with a longer path.
      this.byPath.clear();
      this.byDomainPath.clear();
    });
  }

  /** Returns an endpoint in any status, or `null` if it does not exist. */
  find(environmentId: number, id: Id): Promise<EndpointSummary | null> {
    return this.get(environmentId, id);
  }

  get(environmentId: number, id: Id): Promise<LiveEndpoint | null> {
    return this.byId.get(`${environmentId}:${id}`);
  }

  /**
   * Returns the endpoint at the longest matching prefix of `path`, on a domain or the platform's host. Null if there is
   * none. Returns a promise only if the endpoint has to be loaded.
   */
  at(path: string, domainId: Id | null): Found | null | Promise<Found | null> {
    if (path.length > PATH_LENGTH_MAX || DOT_SEGMENT.test(path)) return null;
    const address = domainId === null ? this.byPath.known(path) : this.byDomainPath.known(domainId + path);
    const endpoint = address && this.byId.known(`${address.environmentId}:${address.id}`);
    return address && endpoint ? found(address, endpoint, path) : this.loadAt(path, domainId);
  }

  private async loadAt(path: string, domainId: Id | null): Promise<Found | null> {
    const address = await (domainId === null ? this.byPath.get(path) : this.byDomainPath.get(domainId + path));
    const endpoint = address && (await this.get(address.environmentId, address.id));
    return address && endpoint && found(address, endpoint, path);
  }

  private async load(key: string): Promise<LiveEndpoint | null> {
    const [environment, id = ''] = key.split(':');
    const configuration = await this.configurations.find(Number(environment), id);
    if (configuration === null) return null;
    const { organizationId } = await this.environments.get(configuration.environmentId);
    return liveEndpoint(configuration, organizationId, (preset) => this.presets.find(preset));
  }
}

function found(address: EndpointAddress, endpoint: LiveEndpoint, path: string): Found {
  const isRoot = address.path === '' && path !== '';
  return { endpoint, rest: isRoot ? `/${path}` : path.slice(address.path.length) };
}

/** Returns possible endpoint paths, longest first: `a/b/c` may be `a/b/c`, `a/b` followed by `/c`, or `a`. */
function prefixesOf(path: string): string[] {
  const segments = path.split('/', SEGMENTS_MAX);
  return segments.map((_, i) => segments.slice(0, i + 1).join('/'));
}
