import { Controller, Get, Query } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  FailingTargetList,
  FailingTargetsQuery,
  OverviewItem,
  OverviewQuery,
  presentFailingTarget,
  presentOverview,
} from './overview.dto.js';
import { Overviews } from './overview.js';

/** An environment at a glance. */
@ApiTags('Metrics')
@Controller('v1/metrics')
export class OverviewController {
  constructor(private readonly overviews: Overviews) {}

  @Get('overview')
  @Scope('read')
  @ApiOperation({
    summary: 'Get an overview',
    description:
      'What was accepted, delivered and failed in the last hour, day, week or month, with the latency of attempts, and how much waits now. From rollups, about two seconds old; they begin with the release that added them.',
  })
  @ApiOkResponse({ type: OverviewItem, description: 'The overview.' })
  @ApiNotFoundResponse({
    description: "No such application in the key's environment.",
    schema: { $ref: '#/components/schemas/Error' },
  })
  async getOverview(
    @CurrentTenant() tenant: Tenant,
    @Query() { application, range, sparse = false }: OverviewQuery,
  ): Promise<OverviewItem> {
    return presentOverview(await this.overviews.read(tenant, application, range), sparse);
  }

  @Get('targets')
  @Scope('read')
  @ApiOperation({
    summary: 'List failing targets',
    description:
      'Destinations and endpoints of applications with the most failures in a range. From rollups, about two seconds old.',
  })
  @ApiOkResponse({ type: FailingTargetList, description: 'The targets; none when all is well.' })
  async listFailingTargets(
    @CurrentTenant() tenant: Tenant,
    @Query() { range, limit }: FailingTargetsQuery,
  ): Promise<FailingTargetList> {
    return { data: (await this.overviews.failing(tenant, range, limit)).map(presentFailingTarget) };
  }
}
