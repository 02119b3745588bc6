import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Config } from '#kernel/config/config.js';
import { ApiError, badRequest } from '#kernel/errors.js';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Against pages that make a browser call us: with an `Origin` that is not ours, or under a name that was led to our address (DNS
 * rebinding). Programs send no `Origin`.
 */
@Injectable()
export class AgentGate {
  constructor(private readonly config: Config) {}

  /** Throws 403 for a foreign `Origin` or `Host`, and 400 for a token in the URL, where logs would keep it. */
  admit(request: FastifyRequest): void {
    const { origin, host = '' } = request.headers;
    if (origin !== undefined && !this.admitsOrigin(origin))
      throw forbidden('This Origin may not call /mcp. MCP_ALLOWED_ORIGINS names those that may.');
    if (!this.admitsHost(host))
      throw forbidden('This Host is not served at /mcp. MCP_ALLOWED_HOSTS names those that are.');
    if (new URLSearchParams(request.url.split('?')[1]).has('access_token'))
      throw badRequest('Send the key in the Authorization header, never in the URL.');
  }

  /** Returns the CORS headers of an answer at `/mcp`. Errors have them, too: without them a browser shows the page no status and no challenge. */
  corsHeaders({ headers: { origin } }: FastifyRequest): Record<string, string> {
    if (origin === undefined || !this.admitsOrigin(origin)) return { vary: 'origin' };
    return {
      vary: 'origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers':
        'www-authenticate, x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset',
    };
  }

  /** Our own, those of MCP_ALLOWED_ORIGINS, and on a laptop those of the laptop. */
  admitsOrigin(origin: string): boolean {
    const base = new URL(this.config.baseUrl);
    if (origin === base.origin || this.config.mcpAllowedOrigins.includes(origin)) return true;
    return LOOPBACK.has(base.hostname) && URL.canParse(origin) && LOOPBACK.has(new URL(origin).hostname);
  }

  /** Any, unless MCP_ALLOWED_HOSTS says which; on a laptop those of the laptop. */
  private admitsHost(host: string): boolean {
    const base = new URL(this.config.baseUrl);
    const { mcpAllowedHosts } = this.config;
    const name = hostName(host);
    if (mcpAllowedHosts.length > 0) return name === base.hostname || mcpAllowedHosts.includes(name);
    return this.config.configuredBaseUrl !== null || LOOPBACK.has(name) || !this.isOnLoopback;
  }

  /** Nobody else can reach a listener there, but for a browser that was led to it. */
  private get isOnLoopback(): boolean {
    return this.config.host === '127.0.0.1' || this.config.host === '::1' || this.config.host === 'localhost';
  }
}

function hostName(host: string): string {
  return URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : '';
}

const forbidden = (message: string): ApiError => new ApiError('insufficient_scope', message);
