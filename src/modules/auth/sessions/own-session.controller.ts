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
  description: 'A key calls, which has no session.',
  schema: { $ref: '#/components/schemas/Error' },
};

/** The session of whoever calls. */
@Section(
  'Sessions',
  "Who is signed in on the service's own pages. Twelve hours without a request end a session, and so do seven days.",
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
      'Who is signed in, for which organization, with which role, and until when. For pages: a key has no session.',
  })
  @ApiOkResponse({ type: OwnSessionItem, description: 'The session.' })
  @ApiNotFoundResponse(NO_SESSION)
  @TryNeeds('the cookie of a session, which only the console sends')
  async getOwnSession(@CurrentCaller() caller: Caller, @Req() { headers }: FastifyRequest): Promise<OwnSessionItem> {
    return presentOwnSession(await this.session.read(caller, headers.cookie));
  }

  @Delete()
  @Scope('read')
  @AnyEnvironment()
  // It stands in the log as the sign-out that it is.
  @Audit('never')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Sign out',
    description: 'Ends the session at once here, and within five seconds on every node, and takes the cookie away.',
  })
  @ApiNoContentResponse({ description: 'Signed out.' })
  @ApiNotFoundResponse(NO_SESSION)
  @TryNeeds('the cookie of a session, which only the console sends')
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
