import { Injectable } from '@nestjs/common';
import { Requests, type RequestDetail, type RequestRow } from '#modules/ledger/accept.contract.js';
import { secretHeaders } from '#engine/inbound/secret-headers.js';
import { Cursors, type CursorQuery } from '#kernel/cursors.js';
import { Clock } from '#kernel/clock.js';
import { conflict, notFound } from '#kernel/errors.js';
import { idTimeMs, lowestIdAt, type Id } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { LiveEndpoints } from './live-endpoints.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { Pipeline } from './pipeline.js';

const LIMIT_DEFAULT = 50;
const HIDDEN = '(hidden)';

/** Raw requests of endpoints: as they came, and once more through the pipeline of today. */
@Injectable()
export class RawRequests {
  constructor(
    private readonly requests: Requests,
    private readonly endpoints: LiveEndpoints,
    private readonly pipeline: Pipeline,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** Throws 404 for an endpoint that is not in this environment. */
  async list(tenant: Tenant, endpointId: Id, query: { cursor?: string; limit?: number }): Promise<{ rows: RequestRow[]; nextCursor: string | null }> {
    await this.endpoint(tenant, endpointId);
    const { cursor, limit = LIMIT_DEFAULT } = query;
    const list: CursorQuery = { list: 'requests', filters: { endpointId } };
    const beforeId = cursor === undefined ? lowestIdAt(this.clock.nowMs() + 60_000) : this.cursors.read(tenant, list, cursor);
    const rows = await this.requests.page(tenant.environmentId, endpointId, beforeId, limit + 1);
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return { rows: page, nextCursor: rows.length > limit && last ? this.cursors.issue(tenant, list, last.id) : null };
  }

  /** As it is shown: without what authenticated it. Throws 404. */
  async find(tenant: Tenant, endpointId: Id, id: Id): Promise<RequestDetail> {
    const { scheme } = await this.endpoint(tenant, endpointId);
    const request = await this.stored(tenant, endpointId, id);
    const secret = secretHeaders(scheme);
    return { ...request, headers: request.headers.map(([name, value]) => [name, secret.has(name) ? HIDDEN : value]) };
  }

  private async stored(tenant: Tenant, endpointId: Id, id: Id): Promise<RequestDetail> {
    const request = await this.requests.find(tenant.environmentId, id);
    if (request === null || request.endpointId !== endpointId) throw notFound('request');
    return request;
  }

  /**
   * Verifies, transforms and routes the request with the endpoint's settings of now, as a new event. A good verdict of
   * its time holds; one that failed is looked at again, since the secret may be right by now. Throws 404, and 409 while
   * the endpoint is not active or when the request was erased.
   */
  async replay(tenant: Tenant, endpointId: Id, id: Id): Promise<Id> {
    const endpoint = await this.endpoint(tenant, endpointId);
    const { method, path, query, headers, body, url, ip, verification, replayOf, erasedAt } = await this.stored(tenant, endpointId, id);
    if (erasedAt !== null) throw conflict('The request was erased: there is nothing to repeat.', { reason: 'erased' });
    if (endpoint.status !== 'active') throw conflict(`The endpoint is ${endpoint.status}. Make it active first.`);
    // A repetition repeats what came first: its signature is as old as that.
    const first = replayOf ?? id;
    const request = { method, path, query, headers, body, url, ip, receivedAtMs: idTimeMs(first) };
    const { eventId } = await this.pipeline.pass(endpoint, request, { replayOf: { id: first, verification }, traceparent: undefined });
    if (eventId === null) throw new Error('A repeated request is always an event.');
    return eventId;
  }

  private async endpoint(tenant: Tenant, id: Id): Promise<LiveEndpoint> {
    const endpoint = await this.endpoints.get(tenant.environmentId, id);
    if (endpoint === null) throw notFound('endpoint');
    return endpoint;
  }
}
