import { Controller, Get, Req } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Scope, TakesPortalToken } from '#http/access.js';
import { parseBearer } from '#http/authentication-hook.js';
import { TryNeeds } from '#http/openapi-sections.js';
import { noSuch } from '#kernel/errors.js';
import { OwnPortalItem, presentOwnPortal } from './portal.dto.js';
import { PortalSessions } from './portal-sessions.js';

/** API for the portal session of the caller. */
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
      'Returns the contents of the portal page, its permissions and its expiry time. Only the portal page can use this call, with its portal token. A request with an API key gets 404.',
  })
  @ApiOkResponse({ type: OwnPortalItem, description: 'The session.' })
  @ApiNotFoundResponse({
    description: 'The caller uses an API key. Only a portal token has a portal.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  @TryNeeds('a portal token as `portalToken` under *Authorize*')
  async getOwnPortal(@Req() { headers, ip }: FastifyRequest): Promise<OwnPortalItem> {
    const facts = await this.sessions.read(parseBearer(headers.authorization) ?? '', ip);
    if (facts === null) throw noSuch('portal session');
    return presentOwnPortal(facts);
  }
}
