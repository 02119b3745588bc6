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

/** API for the overview of an environment and its failing targets. */
@ApiTags('Metrics')
@Controller('v1/metrics')
export class OverviewController {
  constructor(private readonly overviews: Overviews) {}

  @Get('overview')
  @Scope('read')
  @ApiOperation({
    summary: 'Get an overview',
    description:
      'Returns accepted, delivered and failed counts for the last hour, day, week or month, the latency of attempts, and the number of waiting deliveries. The data comes from rollups and is about two seconds old. Data from before the release that introduced rollups is not included.',
  })
  @ApiOkResponse({ type: OverviewItem, description: 'Figures for the overview of the environment.' })
  @ApiNotFoundResponse({
    description: "The key's environment does not have this application.",
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
      'Returns destinations and application endpoints with the most failures in a time range. The data comes from rollups and is about two seconds old.',
  })
  @ApiOkResponse({ type: FailingTargetList, description: 'Targets with failures; empty if there are none.' })
  async listFailingTargets(
    @CurrentTenant() tenant: Tenant,
    @Query() { range, limit }: FailingTargetsQuery,
  ): Promise<FailingTargetList> {
    return { data: (await this.overviews.failing(tenant, range, limit)).map(presentFailingTarget) };
  }
}
