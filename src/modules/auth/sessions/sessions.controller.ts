import { Controller, Delete, Get, HttpCode, Param, Query, Req } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Section, TryNeeds } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { presentSession, sessionId, SessionListQuery, SessionPage } from './sessions.dto.js';
import { SessionsService } from './sessions.service.js';

const ID = { name: 'id', description: 'The session.', example: 'ses_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** The sessions of signed-in users. */
@Section(
  'Sessions',
  "Sessions of users who are signed in to Posthorn's own pages. A session ends after twelve hours without a request, and after seven days at the latest.",
)
@Controller('v1/sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Get()
  @Scope('admin')
  @ApiOperation({
    summary: 'List sessions',
    description:
      'Lists the active sessions of both environments, newest first. A session belongs to a member, or to the key that opened it.',
  })
  @ApiOkResponse({ type: SessionPage, description: 'One page of sessions.' })
  async listSessions(@CurrentTenant() tenant: Tenant, @Query() query: SessionListQuery): Promise<SessionPage> {
    const { rows, nextCursor } = await this.sessions.list(tenant, query);
    return { data: rows.map(presentSession), next_cursor: nextCursor };
  }

  @Delete(':id')
  @Audit()
  @Scope('admin')
  @HttpCode(204)
  @ApiOperation({
    summary: 'End a session',
    description:
      'The session ends immediately on the node that handles the call, and within five seconds on all nodes. Needs a live admin key.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The session has ended.' })
  @TryNeeds('the id of a session: a member has to sign in to the console')
  async endSession(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    request.removed = { ...presentSession(await this.sessions.revoke(tenant, sessionId(id))) };
  }
}
