import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { Config } from '#kernel/config.js';
import type { ApiError } from '#kernel/errors.js';

/** Tells agents that are refused at `/mcp` where to sign in (RFC 9728, section 5.1; RFC 6750, section 3). */
@Injectable()
export class Challenge implements OnModuleInit {
  constructor(
    private readonly filter: EnvelopeFilter,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.filter.challengeOf = (request, error) => this.of(request, error);
  }

  private of(request: FastifyRequest, error: ApiError): string | null {
    if (request.url.split('?', 1)[0] !== '/mcp') return null;
    const metadata = `resource_metadata="${this.config.baseUrl}/.well-known/oauth-protected-resource"`;
    if (error.type === 'unauthenticated') {
      return request.headers.authorization === undefined ? `Bearer ${metadata}` : `Bearer error="invalid_token", ${metadata}`;
    }
    const { required } = error.details;
    return typeof required === 'string' ? `Bearer error="insufficient_scope", scope="${required}", ${metadata}` : null;
  }
}
