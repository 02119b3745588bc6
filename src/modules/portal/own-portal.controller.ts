import { Controller, Get, Req } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Scope, TakesPortalToken } from '#http/access.js';
import { parseBearer } from '#http/authentication-hook.js';
import { TryNeeds } from '#http/openapi-sections.js';
import { notFound } from '#kernel/errors.js';
import { OwnPortalItem, presentOwnPortal } from './portal.dto.js';
import { PortalSessions } from './portal-sessions.js';

/** The session of the portal that calls. */
@ApiTags('Portal')
@Controller('v1/portal')
export class OwnPortalController {
  constructor(private readonly sessions: PortalSessions) {}

  @Get()
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'Get your portal',
    description:
      'What the page of a portal shows and lets somebody do, and until when. For that page: a key has no portal.',
  })
  @ApiOkResponse({ type: OwnPortalItem, description: 'The session.' })
  @ApiNotFoundResponse({
    description: 'A key calls, which has no portal.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  @TryNeeds('the token of a portal as `portalToken` under *Authorize*')
  async getOwnPortal(@Req() { headers, ip }: FastifyRequest): Promise<OwnPortalItem> {
    const facts = await this.sessions.read(parseBearer(headers.authorization) ?? '', ip);
    if (facts === null) throw notFound('portal session');
    return presentOwnPortal(facts);
  }
}
