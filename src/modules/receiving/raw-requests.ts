import { Injectable } from '@nestjs/common';
import { withReplaced } from '#engine/inbound/query.js';
import { joinedNames } from '#engine/inbound/secret-headers.js';
import { HIDDEN, shownPairs } from '#kernel/crypto/sensitive-headers.js';
import { type CursorQuery, Cursors } from '#kernel/cursors.js';
import { conflict, noSuch } from '#kernel/errors.js';
import { AlreadyAnswered, type IdempotentRequest, type StoredAnswer } from '#kernel/idempotency.js';
import { type Id, idTimeMs, lowestIdAt } from '#kernel/ids.js';
import { queriedMs } from '#kernel/moment.js';
import { type Caller, grants, type Tenant } from '#kernel/tenant.js';
import { type RequestDetail, type RequestFilter, type RequestRow } from '#modules/events/requests.contract.js';
import { RequestsStore } from '#modules/events/requests.store.js';
import { SetAsideStore } from '#modules/events/set-aside.store.js';
import { type Released } from './contract.js';
import type { LiveEndpoint } from './live-endpoint.js';
import { LiveEndpoints } from './live-endpoints.js';
import { Pipeline } from './pipeline.js';

const LIMIT_DEFAULT = 50;
/**
 * Idempotency fingerprint for processing a stored request again. It is constant, because a stored request never
 * changes.
 */
const ONE_FINGERPRINT = Buffer.alloc(32);
const LAST_ID = lowestIdAt(Infinity);

export interface RequestQuery extends Pick<RequestFilter, 'status' | 'method'> {
  since?: string;
  until?: string;
  cursor?: string;
  limit?: number;
}

/**
 * Reads the HTTP requests that endpoints received, and processes them again with the current settings of the endpoint.
 */
@Injectable()
export class RawRequests {
  constructor(
    private readonly requests: RequestsStore,
    private readonly endpoints: LiveEndpoints,
    private readonly pipeline: Pipeline,
    private readonly cursors: Cursors,
    private readonly setAside: SetAsideStore,
  ) {}

  /** Lists the HTTP requests that an endpoint received. Throws 404 for an endpoint that is not in this environment. */
  async list(
    tenant: Tenant,
    endpointId: Id,
    query: RequestQuery,
  ): Promise<{ rows: RequestRow[]; nextCursor: string | null }> {
    await this.endpoint(tenant, endpointId);
    const { cursor, limit = LIMIT_DEFAULT, ...filters } = query;
    const list: CursorQuery = { list: 'requests', filters: { endpointId, ...filters } };
    const beforeId = cursor === undefined ? endOf(filters.until) : this.cursors.read(tenant, list, cursor);
    const filter = {
      fromId: lowestIdAt(filters.since === undefined ? 0 : queriedMs(filters.since, 'since')),
      beforeId,
      status: filters.status,
      method: filters.method,
    };
    const rows = await this.requests.page(tenant.environmentId, endpointId, filter, limit + 1);
    return this.cursors.page(tenant, list, rows, limit, ({ id }) => id);
  }

  /**
   * Returns a request. Shows values of authentication headers and query parameters only to callers with scope `write`.
   * Throws 404 for an unknown request.
   */
  async find(caller: Pick<Caller, 'tenant' | 'scope'>, endpointId: Id, id: Id): Promise<RequestDetail> {
    const endpoint = await this.endpoint(caller.tenant, endpointId);
    const request = await this.stored(caller.tenant, endpointId, id);
    const names = joinedNames(endpoint.credentials, request.credentials);
    const hidden = grants(caller.scope, 'write') ? new Set<string>() : names.parameters;
    return {
      ...withReplaced(request, hidden, () => HIDDEN),
      headers: shownPairs(request.headers, caller, new Set([...request.sealedHeaders, ...names.headers])),
    };
  }

  private async stored(tenant: Tenant, endpointId: Id, id: Id): Promise<RequestDetail> {
    const request = await this.requests.find(tenant.environmentId, id);
    if (request === null || request.endpointId !== endpointId) throw noSuch('request');
    return request;
  }

  /**
   * Processes the request as a new event, with the current settings of the endpoint. If the first verification of the
   * signature failed, verifies it again, because the secret may have been corrected since.
   *
   * `keeps` returns the response that is stored for the idempotency key when the event is committed. Throws 404 if the
   * request does not exist. Throws 409 if the endpoint is not active, or if the body was erased or never stored.
   */
  async replay(
    tenant: Tenant,
    endpointId: Id,
    id: Id,
    idempotency: IdempotentRequest | null,
    keeps: (eventId: Id) => StoredAnswer,
  ): Promise<Id> {
    const endpoint = await this.endpoint(tenant, endpointId);
    const request = await this.stored(tenant, endpointId, id);
    if (request.erasedAt !== null)
      throw conflict('The request was erased and cannot be replayed.', { reason: 'erased' });
    if (request.status === 'too_large')
      throw conflict('The body was too large and was not stored, so the request cannot be replayed.', {
        reason: 'too_large',
      });
    if (endpoint.status !== 'active') throw conflict(`The endpoint is ${endpoint.status}. Make it active first.`);
    const eventId = await this.again(endpoint, request, idempotency, keeps);
    await this.setAside.note(tenant.environmentId, firstAnd(request), eventId);
    return eventId;
  }

  /**
   * Processes a raw request again as a new event. `run` is the id of the job. A job creates at most one event from a
   * request, even after a crash.
   *
   * Returns `null` if the request was erased or deleted. If the endpoint is inactive or deleted, `obstacle` is a
   * sentence that says so.
   */
  async release(
    environmentId: number,
    endpointId: Id,
    id: Id,
    run: Id,
  ): Promise<Released | { obstacle: string } | null> {
    const endpoint = await this.endpoints.get(environmentId, endpointId);
    if (endpoint?.status !== 'active')
      return { obstacle: endpoint ? `The endpoint is ${endpoint.status}.` : 'The endpoint was deleted.' };
    const request = await this.requests.find(environmentId, id);
    if (request === null || request.erasedAt !== null) return null;
    const key = { environmentId, route: `release ${run}`, key: id, fingerprint: ONE_FINGERPRINT };
    const eventId = await this.again(endpoint, request, key, (made) => ({ status: 202, body: made })).catch(madeBefore);
    return this.setAside.note(environmentId, firstAnd(request), eventId);
  }

  private async again(
    endpoint: LiveEndpoint,
    { id, method, path, query, headers, body, url, ip, verification, replayOf, credentials }: RequestDetail,
    idempotency: IdempotentRequest | null,
    keeps: (eventId: Id) => StoredAnswer,
  ): Promise<Id> {
    // A replay uses the time of the original request, because the signature's timestamp is from that time.
    const first = replayOf ?? id;
    const request = { method, path, query, headers, body, url, ip, receivedAtMs: idTimeMs(first) };
    const { eventId } = await this.pipeline.run(endpoint, request, {
      replayOf: { id: first, verification, credentials },
      traceparent: undefined,
      mayBeDuplicate: false,
      idempotency: idempotency && { request: idempotency, keeps },
    });
    if (eventId === null) throw new Error('A replayed request is always an event.');
    return eventId;
  }

  private async endpoint(tenant: Tenant, id: Id): Promise<LiveEndpoint> {
    const endpoint = await this.endpoints.get(tenant.environmentId, id);
    if (endpoint === null) throw noSuch('endpoint');
    return endpoint;
  }
}

function firstAnd({ id, replayOf }: RequestDetail): Id[] {
  return replayOf === null ? [id] : [id, replayOf];
}

/**
 * Returns the event's id if the error means that an interrupted run of this job already created the event. Otherwise
 * rethrows the error.
 */
function madeBefore(error: unknown): Id {
  if (error instanceof AlreadyAnswered) return error.answer.body;
  throw error;
}

function endOf(until: string | undefined): Id {
  return until === undefined ? LAST_ID : lowestIdAt(queriedMs(until, 'until') + 1);
}
