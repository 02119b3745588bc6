import { Body, Controller, Get, Header, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiConflictResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentCaller, CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import { showId } from '#kernel/ids.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { ClientGone } from './client-gone.js';
import { presentPositions, PullPositionPage, PullPositionsQuery } from './positions.dto.js';
import { Positions } from './positions.js';
import { AckBody, Acknowledged, presentBatch, PullPage, PullQuery } from './pull.dto.js';
import { PullService } from './pull.service.js';

const NAMED = {
  name: 'endpoint',
  description:
    'The `dst_` id of a pull destination, or the `ep_` id of an endpoint with one: then only what it received.',
  example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};
const NOT_PULLED = {
  description: 'The destination is not of type pull, or the endpoint has none or several of that type.',
  schema: { $ref: '#/components/schemas/Error' },
};

/** Batches for consumers that no delivery can reach. Reading is free to every key; what moves the position needs scope write. */
@Section('Pull', 'Batches for consumers behind a firewall: they come and fetch.')
@Controller('v1/pull')
export class PullController {
  constructor(
    private readonly pulls: PullService,
    private readonly positions: Positions,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List pull positions',
    description:
      'How far consumers have come, newest destination first: every pull destination, pulled or not, and behind it each inbound endpoint that was pulled by its own id.',
  })
  @ApiOkResponse({ type: PullPositionPage, description: 'One page of positions.' })
  async listPullPositions(
    @CurrentTenant() tenant: Tenant,
    @Query() query: PullPositionsQuery,
  ): Promise<PullPositionPage> {
    return presentPositions(await this.positions.list(tenant, query));
  }

  @Get(':endpoint')
  @Scope('read')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    summary: 'Pull a batch',
    description:
      'In the order of acceptance, at least once. Without a cursor it starts at the committed position; a `cursor` commits ' +
      'what came before it and goes on behind it. With a key of scope `read` nothing is committed.',
  })
  @ApiParam(NAMED)
  @ApiOkResponse({ type: PullPage, description: 'One batch of events; empty when there is nothing.' })
  @ApiConflictResponse(NOT_PULLED)
  async pullEvents(
    @CurrentTenant() tenant: Tenant,
    @CurrentCaller() caller: Caller,
    @Param('endpoint') endpoint: string,
    @Query() query: PullQuery,
    @ClientGone() gone: AbortSignal,
  ): Promise<string> {
    return presentBatch(
      await this.pulls.read(tenant, endpoint, { ...query, commits: caller.scope !== 'read' }, gone),
      caller,
    );
  }

  @Post(':endpoint/ack')
  @HttpCode(200)
  @Audit('never')
  @Scope('write')
  @ApiOperation({
    summary: 'Acknowledge a batch',
    description: 'Commits everything before the cursor without reading on. Never moves back.',
  })
  @ApiParam(NAMED)
  @ApiOkResponse({ type: Acknowledged, description: 'Committed.' })
  @ApiConflictResponse(NOT_PULLED)
  async acknowledgeEvents(
    @CurrentTenant() tenant: Tenant,
    @Param('endpoint') endpoint: string,
    @Body() body: AckBody,
  ): Promise<Acknowledged> {
    return { committed_through: showId('evt', await this.pulls.acknowledge(tenant, endpoint, body.cursor)) };
  }
}
