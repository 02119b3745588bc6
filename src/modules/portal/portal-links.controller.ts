import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import {
  ApiBody,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentCaller, CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { showId } from '#kernel/ids.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { APPLICATION } from '#modules/applications/contract.dto.js';
import {
  NewPortalBody,
  OpenedPortalItem,
  portalAsked,
  PortalPreviewBody,
  PortalSessionItem,
  PortalSessionListQuery,
  PortalSessionPage,
  presentOpened,
  presentPortalSession,
} from './portal.dto.js';
import { PortalLinks } from './portal-links.js';

const SESSION = { name: 'id', description: 'The session of the portal.', example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** Opens the portal of an application for the customer that it is. */
@Section(
  'Portal',
  'A page where your customer sees his own endpoints and deliveries, and changes what you let him: as a page, or in a frame of yours.',
)
@Controller('v1/app/:app/portal')
export class PortalLinksController {
  constructor(private readonly links: PortalLinks) {}

  @Post()
  @Scope('write')
  @ApiOperation({
    summary: 'Open a portal',
    description:
      'Call it from your backend for a customer who is signed in with you, and hand him `url`. A frame shows it on the origins that `PATCH /v1/org` names, and on no other one. ' +
      'Each call opens another session; it ends with its time, with `DELETE`, and with the key or the member that opened it.',
  })
  @ApiParam(APPLICATION)
  @ApiBody({ type: NewPortalBody, required: false })
  @ApiCreatedResponse({
    type: OpenedPortalItem,
    description: 'The portal. The answer is the only one that shows its token.',
  })
  async openPortal(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Body() body?: NewPortalBody,
  ): Promise<OpenedPortalItem> {
    return presentOpened(await this.links.open(caller, application, portalAsked(body ?? {})));
  }

  @Post('preview')
  @Scope('read')
  @ApiOperation({
    summary: 'Look at a portal as the customer sees it',
    description:
      'For your own people: nothing can be changed there, no secret is shown, no page may frame it, and it ends after 15 minutes. That it was opened, and by whom, is in the audit log.',
  })
  @ApiParam(APPLICATION)
  @ApiBody({ type: PortalPreviewBody, required: false })
  @ApiCreatedResponse({
    type: OpenedPortalItem,
    description: 'The portal. The answer is the only one that shows its token.',
  })
  async previewPortal(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Body() body?: PortalPreviewBody,
  ): Promise<OpenedPortalItem> {
    return presentOpened(await this.links.preview(caller, application, body?.locale));
  }

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List the portals of an application',
    description: 'Sessions that are in force, newest first.',
  })
  @ApiParam(APPLICATION)
  @ApiOkResponse({ type: PortalSessionPage, description: 'One page of sessions.' })
  async listPortals(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Query() query: PortalSessionListQuery,
  ): Promise<PortalSessionPage> {
    const { rows, nextCursor } = await this.links.list(tenant, application, query);
    return { data: rows.map(presentPortalSession), next_cursor: nextCursor };
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({ summary: 'Get a portal of an application', description: 'Without its token.' })
  @ApiParam(APPLICATION)
  @ApiParam(SESSION)
  @ApiOkResponse({ type: PortalSessionItem, description: 'The session.' })
  async getPortal(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('id') id: string,
  ): Promise<PortalSessionItem> {
    return presentPortalSession(await this.links.find(tenant, application, id));
  }

  @Delete()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Close all portals of an application',
    description: 'At once here, and within five seconds on every node. Also when there are none.',
  })
  @ApiParam(APPLICATION)
  @ApiNoContentResponse({ description: 'Closed.' })
  async closePortals(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const closed = await this.links.revoke(tenant, application, null);
    request.removed = { portals: closed.map((id) => showId('pls', id)) };
  }

  @Delete(':id')
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({ summary: 'Close a portal', description: 'At once here, and within five seconds on every node.' })
  @ApiParam(APPLICATION)
  @ApiParam(SESSION)
  @ApiNoContentResponse({ description: 'Closed.' })
  async closePortal(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('id') id: string,
  ): Promise<void> {
    await this.links.revoke(tenant, application, id);
  }
}
