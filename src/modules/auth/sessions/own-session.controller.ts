import { Controller, Delete, Get, HttpCode, Req, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiNotFoundResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AnyEnvironment, CurrentCaller, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import type { Caller } from '#kernel/tenant.js';
import { OwnSessionItem, presentOwnSession } from './own-session.dto.js';
import { OwnSession } from './own-session.js';

const NO_SESSION = {
  description: 'The request was made with an API key, which has no session.',
  schema: { $ref: '#/components/schemas/Error' },
};

/** The session of the caller. */
@Section(
  'Sessions',
  "Sessions of users who are signed in to Posthorn's own pages. A session ends after twelve hours without a request, and after seven days at the latest.",
)
@Controller('v1/session')
export class OwnSessionController {
  constructor(private readonly session: OwnSession) {}

  @Get()
  @Scope('read')
  @AnyEnvironment()
  @ApiOperation({
    summary: 'Get your session',
    description:
      "Returns the signed-in user, the organization, the role and the expiry. Only for Posthorn's own pages, because an API key has no session.",
  })
  @ApiOkResponse({ type: OwnSessionItem, description: 'The session.' })
  @ApiNotFoundResponse(NO_SESSION)
  @TryNeeds('the session cookie, which only the console sends')
  async getOwnSession(@CurrentCaller() caller: Caller, @Req() { headers }: FastifyRequest): Promise<OwnSessionItem> {
    return presentOwnSession(await this.session.read(caller, headers.cookie));
  }

  @Delete()
  @Scope('read')
  @AnyEnvironment()
  // Not audited as a request, because the sign-out itself writes an entry to the audit log.
  @Audit('never')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Sign out',
    description:
      'Deletes the cookie. The session ends immediately on the node that handles the call, and within five seconds on all nodes.',
  })
  @ApiNoContentResponse({ description: 'The user is signed out.' })
  @ApiNotFoundResponse(NO_SESSION)
  @TryNeeds('the session cookie, which only the console sends')
  async signOutOfSession(
    @CurrentCaller() caller: Caller,
    @Req() { headers, ip, id }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    reply.header(
      'set-cookie',
      await this.session.end(caller, headers.cookie, { ip, userAgent: headers['user-agent'], requestId: id }),
    );
  }
}
