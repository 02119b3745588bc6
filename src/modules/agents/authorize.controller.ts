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

/** What goes from the address into the form, and is looked at again when it comes back. */
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
/** Of one client address, for the question and the answer. */
export const TRIES = { name: 'authorize', count: 200, seconds: 60 };

/** Where a person says whether an application may read (RFC 6749, section 3.1). */
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
    summary: 'Ask a person for access',
    description:
      "A page for the person's browser: sign-in, then the question. Unknown parameters and further scopes are ignored. The answer, also a refusal, is a redirect with `iss` and `state`. A faulty request is shown on the page; it is redirected only to a client that already has a key of the organization.",
  })
  @ApiQuery({ name: 'response_type', description: '`code`.', example: 'code' })
  @ApiQuery({
    name: 'client_id',
    description: 'A registered client, or the https URL of its metadata.',
    example: 'k3W6pQ0bT2mXcR9sY7vZ1A',
  })
  @ApiQuery({
    name: 'redirect_uri',
    description: 'One that is registered, character by character; on the own computer the port may differ.',
    example: 'http://127.0.0.1:3456/callback',
  })
  @ApiQuery({
    name: 'code_challenge',
    description: 'PKCE (RFC 7636).',
    example: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  })
  @ApiQuery({ name: 'code_challenge_method', description: '`S256`.', example: 'S256' })
  @ApiQuery({ name: 'state', required: false, description: 'Comes back as it is.', example: 'af0ifjsldkj' })
  @ApiQuery({
    name: 'scope',
    required: false,
    description: 'Always `read` is granted; other scopes are ignored.',
    example: 'read',
  })
  @ApiQuery({
    name: 'resource',
    required: false,
    description: 'What the key is for (RFC 8707).',
    example: 'https://hooks.example.com/mcp',
  })
  @ApiOkResponse({
    description: 'The page.',
    content: { 'text/html; charset=utf-8': { schema: { type: 'string' }, example: '<!doctype html>…' } },
  })
  @ApiFoundResponse({ description: 'Back to a client that the organization approved before, with an error.' })
  @ApiSeeOtherResponse({ description: 'To the sign-in, and back.' })
  @TryNeeds('a browser where you are signed in: the answer is a page')
  async askForAccess(
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
    @Query() query: Record<string, unknown>,
  ): Promise<void> {
    // RFC 9700, section 4.11.2: the person is authenticated before anything of the request is looked at.
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
