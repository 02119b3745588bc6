import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiFoundResponse, ApiOkResponse, ApiOperation, ApiQuery, ApiSeeOtherResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServesPage } from '#http/access.js';
import { TryNeeds } from '#http/openapi-sections.js';
import { RateLimit } from '#http/rate-limit.js';
import { Consent } from './consent.js';
import { consentPage } from './consent-pages.js';
import { OAuthClients } from './oauth-clients.js';
import { originOf } from './redirect-uris.js';

/**
 * Query parameters of the authorization request that the consent form submits again. They are validated again on
 * submission.
 */
const CARRIED = [
  'response_type',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
  'scope',
  'resource',
];
/** Limit of requests per client IP address, counting both the page and the submitted form. */
export const TRIES = { name: 'authorize', count: 200, seconds: 60 };

/** Asks a user whether an application may get read access (RFC 6749, section 3.1). */
@ApiTags('Agents')
@Controller('oauth/authorize')
export class AuthorizeController {
  constructor(
    private readonly consent: Consent,
    private readonly clients: OAuthClients,
  ) {}

  @Get()
  @ServesPage()
  @RateLimit(TRIES)
  @ApiOperation({
    summary: 'Request access from a user',
    description:
      "Opens a page in the user's browser, where the user signs in and grants or refuses access. The response, including a refusal, is a redirect to the client with `iss` and `state`. Unknown parameters and other scopes are ignored. For an invalid request, the page shows the error. Errors are sent to the client by redirect only if the client already has a key of the organization.",
  })
  @ApiQuery({ name: 'response_type', description: 'Response type. It must be `code`.', example: 'code' })
  @ApiQuery({
    name: 'client_id',
    description: 'Id of a registered client, or the https URL of its metadata document.',
    example: 'k3W6pQ0bT2mXcR9sY7vZ1A',
  })
  @ApiQuery({
    name: 'redirect_uri',
    description:
      "One of the client's registered redirect URIs, compared character by character. For a URI on the local computer, the port may differ.",
    example: 'http://127.0.0.1:3456/callback',
  })
  @ApiQuery({
    name: 'code_challenge',
    description: 'PKCE code challenge (RFC 7636).',
    example: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  })
  @ApiQuery({
    name: 'code_challenge_method',
    description: 'PKCE challenge method. It must be `S256`.',
    example: 'S256',
  })
  @ApiQuery({
    name: 'state',
    required: false,
    description: 'Returned unchanged in the redirect.',
    example: 'af0ifjsldkj',
  })
  @ApiQuery({
    name: 'scope',
    required: false,
    description: 'Requested scope of the key. Only `read` is granted, and other scopes are ignored.',
    example: 'read',
  })
  @ApiQuery({
    name: 'resource',
    required: false,
    description: 'Resource that the key is for (RFC 8707).',
    example: 'https://hooks.example.com/mcp',
  })
  @ApiOkResponse({
    description: 'The page on which the user grants access.',
    content: { 'text/html; charset=utf-8': { schema: { type: 'string' }, example: '<!doctype html>…' } },
  })
  @ApiFoundResponse({
    description: 'Redirects to the client with an error, if the organization has approved the client before.',
  })
  @ApiSeeOtherResponse({ description: 'Redirects to the sign-in page, which then returns to this page.' })
  @TryNeeds('a browser in which you are signed in: the response is a page')
  async askForAccess(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query() query: Record<string, unknown>,
  ): Promise<void> {
    // RFC 9700, section 4.11.2: authenticate the user before evaluating anything in the request.
    const who = await this.consent.whoOrSignIn(request, reply);
    if (who === null) return;
    const asked = await this.consent.asked(query, who, reply);
    if (asked === null) return;
    await this.clients.show(asked.client);
    const carried = Object.fromEntries(
      CARRIED.flatMap((name) => (typeof query[name] === 'string' ? [[name, query[name]]] : [])),
    );
    this.consent.show(reply, consentPage(asked, carried, who, this.consent.basePath), {
      formTargets: [originOf(asked.redirectUri)],
    });
  }
}
