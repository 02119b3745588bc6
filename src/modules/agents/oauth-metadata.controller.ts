import { Controller, Get, Header, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '#http/access.js';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { JSON_TYPE } from '#http/envelope.js';
import { ANY_ORIGIN } from '#http/oauth-answers.js';
import { Config } from '#kernel/config/config.js';
import { notFound } from '#kernel/errors.js';
import { CLIENT_GRANTS, GRANTED_SCOPE } from './client-metadata.js';
import { AuthorizationServerItem, ProtectedResourceItem } from './oauth.dto.js';

const CACHED = 'public, max-age=300';

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
const KEYS = '/oauth/jwks';
/** The addresses of metadata on a host that the service has for itself. Where BASE_URL has a path, it stands behind each of them, too (RFC 8414, section 3.1). */
export const METADATA_PATHS: readonly string[] = [RESOURCE, SERVER, OPENID];

/**
 * What clients of OAuth read first (RFC 9728 and RFC 8414). RFC 8414, section 5, and MCP also look where OpenID Connect puts it: below the path of
 * BASE_URL, which is the one place that a proxy leads to us that serves nothing else of its host.
 */
@ApiTags('Agents')
@Controller('.well-known')
export class OAuthMetadataController implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly filter: EnvelopeFilter,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    if (!this.config.isApi) return;
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    const config = { access: 'public' } as const;
    const documents: [string, string[], () => object][] = [
      [RESOURCE, ['', '/mcp'], () => this.getProtectedResource()],
      [SERVER, [''], () => this.getAuthorizationServer()],
      [OPENID, [''], () => this.openIdConfiguration()],
    ];
    for (const [path, ends, document] of documents) {
      fastify.get(`${path}/*`, { config }, (request, reply) => {
        const places = ends.map((end) => path + this.config.basePath + end);
        return places.includes(placeOf(request)) ? this.send(document(), reply) : this.refuse(request, reply);
      });
    }
    fastify.get(OPENID, { config }, (_request, reply) => this.send(this.openIdConfiguration(), reply));
    fastify.get(KEYS, { config }, (_request, reply) => this.send({ keys: [] }, reply));
  }

  @Get('oauth-protected-resource')
  @Public()
  @Header('cache-control', CACHED)
  @Header('access-control-allow-origin', '*')
  @ApiOperation({
    summary: 'Get the metadata of the agent server',
    description:
      'RFC 9728. Also at `/.well-known/oauth-protected-resource/mcp`, and where BASE_URL has a path at `/.well-known/oauth-protected-resource{path}/mcp` of the host.',
  })
  @ApiOkResponse({ type: ProtectedResourceItem, description: 'Who signs agents in.' })
  getProtectedResource(): ProtectedResourceItem {
    const { baseUrl } = this.config;
    return {
      resource: `${baseUrl}/mcp`,
      authorization_servers: [baseUrl],
      scopes_supported: [GRANTED_SCOPE],
      bearer_methods_supported: ['header'],
      resource_name: 'Posthorn',
      resource_documentation: `${baseUrl}/docs`,
    };
  }

  @Get('oauth-protected-resource/mcp')
  @Public()
  @Header('cache-control', CACHED)
  @Header('access-control-allow-origin', '*')
  @ApiOperation({
    summary: 'Get the metadata of the agent server by its path',
    description: 'The same, where clients look first.',
  })
  @ApiOkResponse({ type: ProtectedResourceItem, description: 'Who signs agents in.' })
  getProtectedResourceByPath(): ProtectedResourceItem {
    return this.getProtectedResource();
  }

  @Get('oauth-authorization-server')
  @Public()
  @Header('cache-control', CACHED)
  @Header('access-control-allow-origin', '*')
  @ApiOperation({
    summary: 'Get the metadata of the authorization server',
    description:
      'RFC 8414. Also at `/.well-known/openid-configuration`, and where BASE_URL has a path at both with the path behind it.',
  })
  @ApiOkResponse({ type: AuthorizationServerItem, description: 'What it can do, and where.' })
  getAuthorizationServer(): AuthorizationServerItem {
    const { baseUrl } = this.config;
    return {
      issuer: baseUrl,
      authorization_endpoint: `${baseUrl}/oauth/authorize`,
      token_endpoint: `${baseUrl}/oauth/token`,
      registration_endpoint: `${baseUrl}/oauth/register`,
      device_authorization_endpoint: `${baseUrl}/oauth/device`,
      revocation_endpoint: `${baseUrl}/oauth/revoke`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [...CLIENT_GRANTS],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: [GRANTED_SCOPE],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      service_documentation: `${baseUrl}/docs`,
    };
  }

  /** The same document with what OpenID Connect Discovery, section 3, requires of it. No ID token is issued: there are no algorithms and no keys. */
  private openIdConfiguration(): object {
    return {
      ...this.getAuthorizationServer(),
      jwks_uri: `${this.config.baseUrl}${KEYS}`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [],
    };
  }

  /** Answers 404 under any other path than that of BASE_URL: another service of the host has other metadata. */
  private async refuse(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    await this.filter.answer(notFound('path'), request, reply);
    return reply;
  }

  private send(document: object, reply: FastifyReply): FastifyReply {
    return reply
      .headers({ ...ANY_ORIGIN, 'cache-control': CACHED, 'content-type': JSON_TYPE })
      .send(JSON.stringify(document));
  }
}

/** The path without the query, and without a slash at its end. */
function placeOf({ url }: FastifyRequest): string {
  return (url.split('?', 1)[0] ?? '').replace(/\/$/, '');
}
