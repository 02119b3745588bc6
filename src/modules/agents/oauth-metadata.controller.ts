import { Controller, Get, Header, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '#http/access.js';
import { EnvelopeFilter } from '#http/envelope.filter.js';
import { JSON_TYPE } from '#http/envelope.js';
import { ANY_ORIGIN } from '#http/oauth-answers.js';
import { Config } from '#kernel/config/config.js';
import { noSuch } from '#kernel/errors.js';
import { CLIENT_GRANTS, GRANTED_SCOPE } from './client-metadata.js';
import { AuthorizationServerItem, ProtectedResourceItem } from './oauth.dto.js';

const CACHED = 'public, max-age=300';

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
const KEYS = '/oauth/jwks';
/**
 * Metadata paths on a host that serves only Posthorn. If BASE_URL has a path, the metadata is also served at each of
 * these paths with the path of BASE_URL appended (RFC 8414, section 3.1).
 */
export const METADATA_PATHS: readonly string[] = [RESOURCE, SERVER, OPENID];

/**
 * Serves the metadata that OAuth clients read first (RFC 9728 and RFC 8414).
 *
 * MCP clients also try the location of OpenID Connect below the path of BASE_URL (RFC 8414, section 5), so the metadata
 * is served there too. It is the only location that clients can reach behind a proxy that forwards only this path.
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
    summary: 'Get the metadata of the MCP server',
    description:
      'Returns the metadata of the protected resource (RFC 9728). It is also served at `/.well-known/oauth-protected-resource/mcp`. If BASE_URL has a path, it is also served at `/.well-known/oauth-protected-resource{path}/mcp` of the host.',
  })
  @ApiOkResponse({
    type: ProtectedResourceItem,
    description: 'The authorization servers of the MCP server, and the scopes and methods of its tokens.',
  })
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
    summary: 'Get the metadata of the MCP server by its path',
    description:
      'Returns the same metadata as `/.well-known/oauth-protected-resource`, at the path that clients try first.',
  })
  @ApiOkResponse({
    type: ProtectedResourceItem,
    description: 'The authorization servers of the MCP server, and the scopes and methods of its tokens.',
  })
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
      'Returns the metadata of the authorization server (RFC 8414). It is also served at `/.well-known/openid-configuration`. If BASE_URL has a path, it is also served at both locations with the path appended.',
  })
  @ApiOkResponse({
    type: AuthorizationServerItem,
    description: 'The endpoints and capabilities of the authorization server.',
  })
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

  /**
   * Returns the metadata of the authorization server, with the additional members that OpenID Connect Discovery,
   * section 3, requires. No ID tokens are issued, so the lists of algorithms and keys are empty.
   */
  private openIdConfiguration(): object {
    return {
      ...this.getAuthorizationServer(),
      jwks_uri: `${this.config.baseUrl}${KEYS}`,
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [],
    };
  }

  /**
   * Sends 404 for any path other than the path of BASE_URL. Other paths may belong to services with their own metadata.
   */
  private async refuse(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    await this.filter.answer(noSuch('path'), request, reply);
    return reply;
  }

  private send(document: object, reply: FastifyReply): FastifyReply {
    return reply
      .headers({ ...ANY_ORIGIN, 'cache-control': CACHED, 'content-type': JSON_TYPE })
      .send(JSON.stringify(document));
  }
}

/** Returns the path without the query and without a trailing slash. */
function placeOf({ url }: FastifyRequest): string {
  return (url.split('?', 1)[0] ?? '').replace(/\/$/, '');
}
