import { Injectable } from '@nestjs/common';
import { EventSources } from '#modules/ledger/accept.contract.js';
import { Cache } from '#kernel/cache.js';
import { Clock } from '#kernel/clock.js';
import type { Id } from '#kernel/ids.js';
import { Notifications } from '#kernel/notifications.js';
import { Endpoints, type EndpointSummary } from '#modules/endpoints/contract.js';
import { EndpointVault } from '#modules/endpoints/endpoint-vault.js';
import { liveEndpoint, type LiveEndpoint } from './live-endpoint.js';
import { LiveEndpointsStore, type Address } from '#modules/endpoints/configurations.store.js';

const ENDPOINTS_MAX = 5_000;
const PATHS_MAX = 20_000;
/** A path is at most eight segments of an endpoint; what follows belongs to the request. */
const SEGMENTS_MAX = 9;
const PATH_LENGTH_MAX = 1_024;
/** Segments that URL parsers resolve, backslashes and encodings included: a mirror would leave its destination's path by them. */
const DOT_SEGMENT = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i;

/** Endpoints for receiving, compiled and cached: a change drops them on every node, and none is older than five seconds. */
@Injectable()
export class LiveEndpoints extends Endpoints {
  private readonly byId: Cache<LiveEndpoint | null>;
  private readonly byPath: Cache<Address | null>;

  constructor(
    private readonly store: LiveEndpointsStore,
    private readonly vault: EndpointVault,
    clock: Clock,
    notifications: Notifications,
    sources: EventSources,
  ) {
    super();
    const nowMs = (): number => clock.nowMs();
    this.byId = new Cache((key) => this.load(key), { entriesMax: ENDPOINTS_MAX, nowMs });
    this.byPath = new Cache((path) => this.store.at(prefixesOf(path)), { entriesMax: PATHS_MAX, nowMs });
    notifications.on('endpoint', (key) => {
      if (key === '*') this.byId.clear();
      else this.byId.drop(key);
      // A path may belong to another endpoint now, or to a longer one.
      this.byPath.clear();
    });
    sources.attach(async (environmentId, path) => {
      const endpointId = await this.store.ownAt(environmentId, path);
      return endpointId === null ? null : { endpointId };
    });
  }

  override find(environmentId: number, id: Id): Promise<EndpointSummary | null> {
    return this.get(environmentId, id);
  }

  get(environmentId: number, id: Id): Promise<LiveEndpoint | null> {
    return this.byId.get(`${environmentId}:${id}`);
  }

  /** The endpoint that lives at `path` or at the longest part of it, and what is left of the path; null when none does. */
  async at(path: string): Promise<{ endpoint: LiveEndpoint; rest: string } | null> {
    if (path.length > PATH_LENGTH_MAX || DOT_SEGMENT.test(path)) return null;
    const address = await this.byPath.get(path);
    const endpoint = address && (await this.get(address.environmentId, address.id));
    return endpoint && { endpoint, rest: path.slice(address.path.length) };
  }

  private async load(key: string): Promise<LiveEndpoint | null> {
    const [environment, id = ''] = key.split(':');
    const environmentId = Number(environment);
    const [row, routes] = await Promise.all([this.store.find(environmentId, id), this.store.routes(environmentId, id)]);
    return row && liveEndpoint(row, routes, { secrets: this.vault.openSecrets(row), response: this.vault.openResponse(row) });
  }
}

/** `a/b/c` may be the endpoint `a/b/c`, `a/b` with `/c` behind it, or `a`. */
function prefixesOf(path: string): string[] {
  const segments = path.split('/', SEGMENTS_MAX);
  return segments.map((_, i) => segments.slice(0, i + 1).join('/'));
}
