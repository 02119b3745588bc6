import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { ApiError, badRequest } from '#kernel/errors.js';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Protects `/mcp` against web pages that use a visitor's browser. Such requests have a foreign `Origin`, or a host name
 * that points to Posthorn's address (DNS rebinding). Programs other than browsers send no `Origin`.
 */
@Injectable()
export class AgentGate {
  constructor(private readonly config: Config) {}

  /** Throws 403 for a foreign `Origin` or `Host`, and 400 for a token in the URL, because URLs are often logged. */
  admit(request: FastifyRequest): void {
    const { origin, host = '' } = request.headers;
    if (origin !== undefined && !this.admitsOrigin(origin))
      throw forbidden('This Origin may not call /mcp. MCP_ALLOWED_ORIGINS lists the allowed origins.');
    if (!this.admitsHost(host))
      throw forbidden('This Host is not served at /mcp. MCP_ALLOWED_HOSTS lists the allowed hosts.');
    if (new URLSearchParams(request.url.split('?')[1]).has('access_token'))
      throw badRequest('Send the key in the Authorization header, never in the URL.');
  }

  /**
   * Returns the CORS headers of a response. Error responses also need these headers, so that a page can read the status
   * and the challenge.
   */
  corsHeaders({ headers: { origin } }: FastifyRequest): Record<string, string> {
    if (origin === undefined || !this.admitsOrigin(origin)) return { vary: 'origin' };
    return {
      vary: 'origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers':
        'www-authenticate, x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset',
    };
  }

  /**
   * Returns whether an origin may call. Posthorn's own origin and those in MCP_ALLOWED_ORIGINS may. If BASE_URL is on
   * loopback, all loopback origins may.
   */
  admitsOrigin(origin: string): boolean {
    const base = new URL(this.config.baseUrl);
    if (origin === base.origin || this.config.mcpAllowedOrigins.includes(origin)) return true;
    return LOOPBACK.has(base.hostname) && URL.canParse(origin) && LOOPBACK.has(new URL(origin).hostname);
  }

  /** Returns whether a host is accepted. By default, a service that listens on loopback accepts only loopback hosts. */
  private admitsHost(host: string): boolean {
    const base = new URL(this.config.baseUrl);
    const { mcpAllowedHosts } = this.config;
    const name = hostName(host);
    if (mcpAllowedHosts.length > 0) return name === base.hostname || mcpAllowedHosts.includes(name);
    return this.config.configuredBaseUrl !== null || LOOPBACK.has(name) || !this.isOnLoopback;
  }

  /**
   * True if the service listens only on loopback. An attacker on another machine can then reach it only through a local
   * browser (DNS rebinding).
   */
  private get isOnLoopback(): boolean {
    return this.config.host === '127.0.0.1' || this.config.host === '::1' || this.config.host === 'localhost';
  }
}

function hostName(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}

const forbidden = (message: string): ApiError => new ApiError('insufficient_scope', message);
