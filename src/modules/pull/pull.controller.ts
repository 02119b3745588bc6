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
    'The `dst_` id of a pull destination, or the `ep_` id of an endpoint that routes to a pull destination. An `ep_` id returns only events that this endpoint received.',
  example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};
const NOT_PULLED = {
  description: 'The destination is not of type `pull`, or the endpoint does not route to exactly one pull destination.',
  schema: { $ref: '#/components/schemas/Error' },
};

/**
 * Serves batches of events to consumers that Posthorn cannot reach. Any key may read. A commit needs the scope `write`.
 */
@Section('Pull', 'Batches for consumers behind a firewall, which fetch events themselves.')
@Controller('v1/pull')
export class PullController {
  constructor(
    private readonly pulls: PullService,
    private readonly positions: Positions,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List the positions of pull consumers',
    description:
      'Returns the positions of consumers, newest destination first. The list contains every pull destination, even if it was never pulled. Each destination is followed by the inbound endpoints whose `ep_` ids consumers used to pull from it.',
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
      'Returns events in the order in which they were accepted, each at least once. Without a cursor, the batch starts at the committed position. With a `cursor`, all events before it are committed, and the batch starts after it. Only calls with a key of scope `write` or `admin` commit a position.',
  })
  @ApiParam(NAMED)
  @ApiOkResponse({ type: PullPage, description: 'One batch of events; empty if none are available.' })
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
    description: 'Commits all events before the cursor and returns no events. The committed position never moves back.',
  })
  @ApiParam(NAMED)
  @ApiOkResponse({ type: Acknowledged, description: 'The events before the cursor are committed.' })
  @ApiConflictResponse(NOT_PULLED)
  async acknowledgeEvents(
    @CurrentTenant() tenant: Tenant,
    @Param('endpoint') endpoint: string,
    @Body() body: AckBody,
  ): Promise<Acknowledged> {
    return { committed_through: showId('evt', await this.pulls.acknowledge(tenant, endpoint, body.cursor)) };
  }
}
