import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '#http/access.js';
import { Config } from '#kernel/config.js';
import { AuthorizationServerItem, ProtectedResourceItem } from './oauth.dto.js';

const CACHED = 'public, max-age=300';

/** What clients of OAuth read first (RFC 9728 and RFC 8414). */
@ApiTags('Agents')
@Controller('.well-known')
export class OAuthMetadataController {
  constructor(private readonly config: Config) {}

  @Get('oauth-protected-resource')
  @Public()
  @Header('cache-control', CACHED)
  @Header('access-control-allow-origin', '*')
  @ApiOperation({ summary: 'Get the metadata of the agent server', description: 'RFC 9728. Also at `/.well-known/oauth-protected-resource/mcp`.' })
  @ApiOkResponse({ type: ProtectedResourceItem, description: 'Who signs agents in.' })
  getProtectedResource(): ProtectedResourceItem {
    const { baseUrl } = this.config;
    return {
      resource: `${baseUrl}/mcp`, authorization_servers: [baseUrl], scopes_supported: ['read'], bearer_methods_supported: ['header'],
      resource_name: 'Posthorn', resource_documentation: `${baseUrl}/docs`,
    };
  }

  @Get('oauth-protected-resource/mcp')
  @Public()
  @Header('cache-control', CACHED)
  @Header('access-control-allow-origin', '*')
  @ApiOperation({ summary: 'Get the metadata of the agent server by its path', description: 'The same, where clients look first.' })
  @ApiOkResponse({ type: ProtectedResourceItem, description: 'Who signs agents in.' })
  getProtectedResourceByPath(): ProtectedResourceItem {
    return this.getProtectedResource();
  }

  @Get('oauth-authorization-server')
  @Public()
  @Header('cache-control', CACHED)
  @Header('access-control-allow-origin', '*')
  @ApiOperation({ summary: 'Get the metadata of the authorization server', description: 'RFC 8414.' })
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
      grant_types_supported: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      scopes_supported: ['read'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      service_documentation: `${baseUrl}/docs`,
    };
  }
}
