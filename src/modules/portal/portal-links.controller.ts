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
import { Audit } from '#http/audit.js';
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

const SESSION = { name: 'id', description: 'Id of the portal session.', example: 'pls_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** Opens and closes the portals in which customers manage their own application. */
@Section(
  'Portal',
  'A page where your customer sees their own endpoints and deliveries, and changes what you allow. Open it as a separate page or in a frame on your site.',
)
@Controller('v1/app/:app/portal')
export class PortalLinksController {
  constructor(private readonly links: PortalLinks) {}

  @Post()
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Open a portal',
    description:
      'Call this operation from your backend for a customer who is signed in to your product, and redirect the customer to `url`. The page can be framed only on the origins that `PATCH /v1/org` lists. Each call opens another session. The session ends when it expires or is deleted. It also ends when the key that opened it is revoked or expires, or when the member who opened it is removed.',
  })
  @ApiParam(APPLICATION)
  @ApiBody({ type: NewPortalBody, required: false })
  @ApiCreatedResponse({
    type: OpenedPortalItem,
    description: 'The portal. Only this response contains its token.',
  })
  async openPortal(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Body() body?: NewPortalBody,
  ): Promise<OpenedPortalItem> {
    return presentOpened(await this.links.open(caller, application, portalAsked(body ?? {})));
  }

  @Post('preview')
  @Audit()
  @Scope('read')
  @ApiOperation({
    summary: 'Preview a portal as the customer sees it',
    description:
      'Opens a preview of the portal for your own staff. A preview is read-only, shows no secrets, cannot be framed, and ends after 15 minutes. The audit log records the caller.',
  })
  @ApiParam(APPLICATION)
  @ApiBody({ type: PortalPreviewBody, required: false })
  @ApiCreatedResponse({
    type: OpenedPortalItem,
    description: 'The portal. Only this response contains its token.',
  })
  async previewPortal(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Body() body?: PortalPreviewBody,
  ): Promise<OpenedPortalItem> {
    return presentOpened(await this.links.preview(caller, application, portalAsked(body ?? {})));
  }

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List the portal sessions of an application',
    description: 'Returns the active sessions, newest first.',
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
  @ApiOperation({
    summary: 'Get a portal session of an application',
    description: 'Returns the session without its token.',
  })
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
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Close all portal sessions of an application',
    description:
      'The sessions end immediately on the node that handles the call, and within five seconds on all nodes. Also succeeds if there are no sessions.',
  })
  @ApiParam(APPLICATION)
  @ApiNoContentResponse({ description: 'All sessions are closed.' })
  async closePortals(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    const closed = await this.links.revoke(tenant, application, null);
    request.removed = { portals: closed.map((id) => showId('pls', id)) };
  }

  @Delete(':id')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Close a portal',
    description:
      'The session ends immediately on the node that handles the call, and within five seconds on all nodes.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(SESSION)
  @ApiNoContentResponse({ description: 'The session is closed.' })
  async closePortal(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('id') id: string,
  ): Promise<void> {
    await this.links.revoke(tenant, application, id);
  }
}
