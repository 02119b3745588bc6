import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { Config } from '#kernel/config/config.js';
import type { ApiError } from '#kernel/errors.js';
import { AgentGate } from './agent-gate.js';
import { GRANTED_SCOPE } from './client-metadata.js';

/** Paths of the MCP endpoint. Some users configure its URL with a trailing slash. */
export const MCP_PATHS: readonly string[] = ['/mcp', '/mcp/'];

/**
 * Adds the location of the sign-in metadata to every 401 and 403 at `/mcp` (RFC 9728, section 5.1; RFC 6750, section
 * 3). Also adds CORS headers, because a page that cannot read the 401 cannot sign in.
 */
@Injectable()
export class Challenge implements OnModuleInit {
  constructor(
    private readonly filter: EnvelopeFilter,
    private readonly gate: AgentGate,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.filter.headersOf = (request, error) => this.headersOf(request, error);
  }

  private headersOf(request: FastifyRequest, error: ApiError): Record<string, string> {
    if (!MCP_PATHS.includes(request.url.split('?', 1)[0] ?? '')) return {};
    const challenge = this.challengeOf(request, error);
    return { ...this.gate.corsHeaders(request), ...(challenge !== null && { 'www-authenticate': challenge }) };
  }

  private challengeOf(request: FastifyRequest, error: ApiError): string | null {
    const metadata = `resource_metadata="${this.config.baseUrl}/.well-known/oauth-protected-resource"`;
    if (error.type === 'unauthenticated') {
      return request.headers.authorization === undefined
        ? `Bearer ${metadata}`
        : `Bearer error="invalid_token", ${metadata}`;
    }
    const { required } = error.details;
    if (error.type !== 'insufficient_scope' || typeof required !== 'string') return null;
    // Names the required scope only if a new sign-in can grant it. Otherwise, the agent would start a new sign-in,
    // which would not help.
    const scope =
      required === GRANTED_SCOPE
        ? `scope="${required}"`
        : `error_description="Keys from this sign-in only have the scope ${GRANTED_SCOPE}. Use an API key of scope ${required}."`;
    return `Bearer error="insufficient_scope", ${scope}, ${metadata}`;
  }
}
