import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authenticator } from '#kernel/authenticator.js';
import { Config } from '#kernel/config.js';
import { ApiError, badRequest } from '#kernel/errors.js';
import type { Caller } from '#kernel/tenant.js';
import { requireAccess } from './access.js';
import { clientNetwork } from './client-network.js';
import { RateLimiter, type Counted, type Verdict } from './rate-limiter.js';

/** Longer than any key or token of ours; nothing longer is looked up. */
const BEARER_LENGTH_MAX = 512;

/**
 * The first thing that happens to a request, before its body is read: who is calling, how much is left of the quota,
 * and whether that caller may use the route.
 */
@Injectable()
export class RequestGate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {}

  /** Fastify hook. Throws 400, 401, 403 and 429; the headers of the request id and the quota are set by then. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    markReply(request, reply);
    const { access, uncounted } = request.routeOptions.config;
    if (uncounted === true) return;
    request.caller = await this.identify(request, reply);
    await this.count(request, reply);
    refuseUnreadable(request);
    if (access !== undefined) requireAccess(access, request.caller);
  }

  /** For requests that never reach a route: counts by address and sets the headers. Throws 429. */
  async admitUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    markReply(request, reply);
    await this.count(request, reply);
  }

  private async identify(request: FastifyRequest, reply: FastifyReply): Promise<Caller | null> {
    const bearer = parseBearer(request.headers.authorization);
    if (bearer === null) return null;
    try {
      return await this.authenticator.authenticate(bearer);
    } catch (error) {
      await this.count(request, reply);
      throw error;
    }
  }

  /** A key that is not valid costs its guess: it is counted like no key, by address. */
  private async count(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { rateLimitKey, rateLimitOrg } = this.config;
    const addressQuota = rateLimitKey ?? rateLimitOrg;
    if (addressQuota === null) return;
    const { caller } = request;
    let counted: Verdict | Promise<Verdict>;
    if (caller) {
      const buckets: Counted[] = [];
      if (rateLimitKey) buckets.push({ id: caller.keyId, quota: rateLimitKey });
      if (rateLimitOrg) buckets.push({ id: caller.tenant.organizationId, quota: rateLimitOrg });
      counted = this.limiter.count(caller.tenant.organizationId, buckets);
    } else {
      const network = clientNetwork(request.ip);
      counted = this.limiter.count(network, [{ id: network, quota: addressQuota }]);
    }
    limit(reply, 'then' in counted ? await counted : counted);
  }
}

/** The value of `Authorization: Bearer …`, or null when there is none that could be a key. */
export function parseBearer(header: string | undefined): string | null {
  if (header === undefined || header.length > BEARER_LENGTH_MAX) return null;
  return /^bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1] ?? null;
}

function markReply(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
}

function limit(reply: FastifyReply, verdict: Verdict): void {
  reply.header('ratelimit-limit', verdict.limit);
  reply.header('ratelimit-remaining', verdict.remaining);
  reply.header('ratelimit-reset', verdict.resetSeconds);
  if (verdict.allowed) return;
  const { retryAfterSeconds } = verdict;
  throw new ApiError('rate_limited', `Too many requests. Try again in ${retryAfterSeconds} s.`, {}, retryAfterSeconds);
}

/** RFC 9112, section 3.2, asks for 400 without Host. U+0000 in a path or query would be an error of PostgreSQL's text. */
function refuseUnreadable(request: FastifyRequest): void {
  const { raw } = request;
  if (raw.headers.host === undefined && raw.httpVersion === '1.1') throw badRequest('The Host header is missing.');
  if (request.url.includes('%00') && request.url.startsWith('/v1/')) throw badRequest('The URL must not contain %00.');
}
