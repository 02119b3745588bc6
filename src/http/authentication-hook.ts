import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Authenticator, hasPortalTokenForm, PortalAuthenticator, SessionAuthenticator } from '#kernel/authenticator.js';
import { Config } from '#kernel/config/config.js';
import { ApiError, badRequest } from '#kernel/errors.js';
import { AccessRules } from './access-rules.js';
import { applyQuotas, CallerQuotas } from './caller-quotas.js';
import { originCalled } from './forwarded.js';
import type { QuotaVerdict } from './rate-limiter.js';
import { environmentAsked, environmentFault, maySpeakForSession, SIGNED_OUT } from './session-requests.js';
import { leaveBodyUnread } from './unread-body.js';

/**
 * Maximum length of a bearer token. Exceeds the length of every Posthorn token. Longer values are rejected without a
 * lookup.
 */
const BEARER_LENGTH_MAX = 512;

/** First step of each request, before the body is read: authentication, quotas, and access to the route. */
@Injectable()
export class AuthenticationHook {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly quotas: CallerQuotas,
    private readonly rules: AccessRules,
    private readonly config: Config,
    private readonly sessions: SessionAuthenticator,
    private readonly portals: PortalAuthenticator,
  ) {}

  /**
   * Authenticates a request. Fails with 400, 401, 403, 429 or 503, after setting the headers with the request id and
   * the quota. Uses callbacks instead of `await`, because a promise per request would have a measurable cost.
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
      // If the key lookup fails or is rejected, counts the request by client address, as if it had no key.
      (error: Error) => void this.authenticateUnrouted(request, reply).then(() => done(error), done),
    );
  }

  /**
   * Counts requests without a route by client address, and sets the quota headers. Throws 429 if the quota is
   * exhausted.
   */
  async authenticateUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    reply.header('x-request-id', request.id);
    const tooMany = applyQuotas(request, reply, await this.quotas.count(request));
    if (tooMany) throw tooMany;
  }

  /**
   * Returns the origin of BASE_URL. Without BASE_URL, returns the origin that the request was sent to, so that the
   * console works on every address of the listener. This is safe, because a browser sends a cookie only to the host
   * that set it.
   */
  private ownOrigin(request: FastifyRequest): string {
    const { configuredBaseUrl, baseUrl } = this.config;
    return (configuredBaseUrl === null ? originCalled(request) : null) ?? baseUrl;
  }

  /**
   * Authenticates a request with a session. Sets `no-store`: unlike responses to requests with `Authorization`, caches
   * may store responses to requests with a cookie.
   */
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
    const counted = this.quotas.count(request);
    if (counted !== null && 'then' in counted) {
      counted.then((verdict) => done(this.check(request, reply, verdict, fault)), done);
    } else {
      done(this.check(request, reply, counted, fault));
    }
  }

  /** Returns the reason to reject a request before its body is read. The handler's guard repeats the check. */
  private check(
    request: FastifyRequest,
    reply: FastifyReply,
    quotaVerdict: QuotaVerdict | null,
    fault?: ApiError,
  ): ApiError | undefined {
    const refused =
      applyQuotas(request, reply, quotaVerdict) ??
      unreadable(request) ??
      fault ??
      this.rules.refusal(request.edge.access ?? 'public', request);
    if (refused?.type === 'unauthenticated') leaveBodyUnread(request, reply);
    return refused;
  }
}

/**
 * Returns whether the token is the operator's key. Compares hashes in constant time, so that the timing reveals
 * nothing.
 */
function isKeyOfOperator(bearer: string, operatorKey: string | null): boolean {
  return (
    operatorKey !== null &&
    timingSafeEqual(createHash('sha256').update(bearer).digest(), createHash('sha256').update(operatorKey).digest())
  );
}

/** Returns the token of `Authorization: Bearer …`, or null if it is missing or cannot be a key. */
export function parseBearer(header: string | undefined, lengthMax = BEARER_LENGTH_MAX): string | null {
  if (header === undefined || header.length > lengthMax || !/^bearer +[^ ]/i.test(header)) return null;
  return header.slice(header.indexOf(' ')).trim();
}

/**
 * Returns a fault if the request does not have exactly one Host header (RFC 9112, 3.2), or if its URL contains U+0000.
 */
function unreadable({ raw, url }: FastifyRequest): ApiError | undefined {
  const hosts = hostCount(raw.rawHeaders);
  if (hosts === 0 && raw.httpVersion === '1.1') return badRequest('The Host header is missing.');
  if (hosts > 1) return severalHosts();
  return url.includes('%00') && url.startsWith('/v1/') ? badRequest('The URL must not contain %00.') : undefined;
}

const severalHosts = (): ApiError => badRequest('Send one Host header.');

/** Returns the number of Host headers. Of several, Node uses the first, while a proxy may use the last. */
function hostCount(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
