import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authenticator, hasPortalTokenForm, PortalAuthenticator, SessionAuthenticator } from '#kernel/authenticator.js';
import { Config } from '#kernel/config/config.js';
import { ApiError, badRequest } from '#kernel/errors.js';
import { AccessRules } from './access-rules.js';
import { clientNetwork } from './client-network.js';
import { originCalled } from './forwarded.js';
import { type Counted, type QuotaVerdict, RateLimiter } from './rate-limiter.js';
import { environmentAsked, environmentFault, maySpeakForSession, SIGNED_OUT } from './session-requests.js';
import { leaveBodyUnread } from './unread-body.js';

/** Longer than any token of ours; nothing longer is looked at. */
const BEARER_LENGTH_MAX = 512;

/**
 * The first thing that happens to a request, before its body is read: who is calling, how much is left of the quota,
 * and whether that caller may use the route.
 */
@Injectable()
export class AuthenticationHook {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: RateLimiter,
    private readonly rules: AccessRules,
    private readonly config: Config,
    private readonly sessions: SessionAuthenticator,
    private readonly portals: PortalAuthenticator,
  ) {}

  /**
   * Fastify hook. Fails with 400, 401, 403, 429 or 503; the headers of the request id and the quota are set by then.
   * Callbacks instead of `await`: this runs on every request, and each promise that is saved shows.
   */
  authenticate(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    reply.header('x-request-id', request.id);
    request.edge = request.routeOptions.config;
    if (request.edge.uncounted === true)
      return done(hostCount(request.raw.rawHeaders) > 1 ? severalHosts() : undefined);
    const bearer = parseBearer(request.headers.authorization, this.authenticator.bearerLengthMax);
    if (bearer === null)
      return maySpeakForSession(request, this.ownOrigin(request))
        ? this.admitSession(request, reply, done)
        : this.countAndCheck(request, reply, done);
    if (request.edge.access === 'operator') {
      request.isOperator = isKeyOfOperator(bearer, this.config.operatorKey);
      return this.countAndCheck(request, reply, done);
    }
    const found = hasPortalTokenForm(bearer)
      ? this.portals.authenticate(bearer, request.ip)
      : this.authenticator.authenticate(bearer, request.ip);
    if (!(found instanceof Promise)) {
      request.caller = found;
      return this.countAndCheck(request, reply, done);
    }
    found.then(
      (caller) => {
        request.caller = caller;
        this.countAndCheck(request, reply, done);
      },
      // An error of the authenticator's storage is counted like a request without a key, and so is a guess too many.
      (error: Error) => void this.authenticateUnrouted(request, reply).then(() => done(error), done),
    );
  }

  /** For requests that the router itself refuses: counted by address, with the same headers. Throws 429. */
  async authenticateUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.header('x-request-id', request.id);
    const tooMany = limit(reply, await this.count(request));
    if (tooMany) throw tooMany;
  }

  /**
   * Returns the origin that our own pages have: that of BASE_URL, and without one the origin that the request was sent to. The console
   * is then at every address that the service listens on, and a browser sends a cookie to no other host than its own.
   */
  private ownOrigin(request: FastifyRequest): string {
    const { configuredBaseUrl, baseUrl } = this.config;
    return (configuredBaseUrl === null ? originCalled(request) : null) ?? baseUrl;
  }

  /** Somebody who is signed in, in the place of a key. What he is answered is for no cache: a cookie does not keep a shared one away, as a key does. */
  private admitSession(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    reply.header('cache-control', 'no-store');
    const asked = environmentAsked(request);
    this.sessions.authenticate(request.headers.cookie, asked, request.ip).then(
      (caller) => {
        request.caller = caller;
        this.countAndCheck(
          request,
          reply,
          done,
          caller === null ? SIGNED_OUT : environmentFault(request, asked, caller),
        );
      },
      (error: Error) => void this.authenticateUnrouted(request, reply).then(() => done(error), done),
    );
  }

  private countAndCheck(
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
    fault?: ApiError,
  ): void {
    const counted = this.count(request);
    if (counted !== null && 'then' in counted) {
      counted.then((verdict) => done(this.check(request, reply, verdict, fault)), done);
    } else {
      done(this.check(request, reply, counted, fault));
    }
  }

  /**
   * The first thing that is wrong with the request, once its headers are written. Who may not use the route is told so here,
   * before anybody reads what he sends; the guard in front of the handler goes by the same rule.
   */
  private check(
    request: FastifyRequest,
    reply: FastifyReply,
    quotaVerdict: QuotaVerdict | null,
    fault?: ApiError,
  ): ApiError | undefined {
    const refused =
      limit(reply, quotaVerdict) ??
      unreadable(request) ??
      fault ??
      this.rules.refusal(request.edge.access ?? 'public', request);
    if (refused?.type === 'unauthenticated') leaveBodyUnread(request, reply);
    return refused;
  }

  /** Null when both quotas are off. A key that is not valid costs its guess: it is counted like no key, by address. */
  private count({ caller, ip }: FastifyRequest): QuotaVerdict | Promise<QuotaVerdict> | null {
    const { rateLimitKey, rateLimitOrg, rateLimitPortal } = this.config;
    const addressQuota = rateLimitKey ?? rateLimitOrg;
    if (addressQuota === null) return null;
    if (!caller) {
      const network = clientNetwork(ip);
      return this.limiter.count(network, [{ id: network, quota: addressQuota }]);
    }
    const { organizationId } = caller.tenant;
    const buckets: Counted[] = [];
    const ownQuota = caller.portal === undefined ? rateLimitKey : rateLimitPortal;
    if (ownQuota) buckets.push({ id: caller.keyId, quota: ownQuota });
    if (rateLimitOrg) buckets.push({ id: organizationId, quota: rateLimitOrg });
    return this.limiter.count(organizationId, buckets);
  }
}

/** Compared as hashes in constant time: neither its length nor where it differs shows. */
function isKeyOfOperator(bearer: string, operatorKey: string | null): boolean {
  return (
    operatorKey !== null &&
    timingSafeEqual(createHash('sha256').update(bearer).digest(), createHash('sha256').update(operatorKey).digest())
  );
}

/** The value of `Authorization: Bearer …`, or null when there is none that could be a key. */
export function parseBearer(header: string | undefined, lengthMax = BEARER_LENGTH_MAX): string | null {
  if (header === undefined || header.length > lengthMax || !/^bearer +[^ ]/i.test(header)) return null;
  return header.slice(header.indexOf(' ')).trim();
}

function limit(reply: FastifyReply, quotaVerdict: QuotaVerdict | null): ApiError | undefined {
  if (quotaVerdict === null) return undefined;
  reply.header('ratelimit-limit', quotaVerdict.limit);
  reply.header('ratelimit-remaining', quotaVerdict.remaining);
  reply.header('ratelimit-reset', quotaVerdict.resetSeconds);
  if (quotaVerdict.allowed) return undefined;
  const { retryAfterSeconds } = quotaVerdict;
  return new ApiError('rate_limited', `Too many requests. Try again in ${retryAfterSeconds} s.`, {}, retryAfterSeconds);
}

/** RFC 9112, section 3.2, asks for 400 without Host and for more than one. U+0000 in a path or query would be an error of PostgreSQL's text. */
function unreadable({ raw, url }: FastifyRequest): ApiError | undefined {
  const hosts = hostCount(raw.rawHeaders);
  if (hosts === 0 && raw.httpVersion === '1.1') return badRequest('The Host header is missing.');
  if (hosts > 1) return severalHosts();
  return url.includes('%00') && url.startsWith('/v1/') ? badRequest('The URL must not contain %00.') : undefined;
}

const severalHosts = (): ApiError => badRequest('Send one Host header.');

/** Node keeps the first of several, a proxy in front of us may have gone by the last. Names stand at the even places. */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
