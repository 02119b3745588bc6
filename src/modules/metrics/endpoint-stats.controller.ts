import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import type { Tenant } from '#kernel/tenant.js';
import { APPLICATION, ENDPOINT } from '#modules/applications/contract.dto.js';
import { EndpointStatsItem, EndpointStatsQuery, presentStats } from './endpoint-stats.dto.js';
import { EndpointStatistics } from './endpoint-stats.js';
import { timeMs } from './windows.js';

/** API for the statistics of an application's endpoint. */
@ApiTags('Applications')
@Controller('v1/app/:app/endpoints/:endpoint/stats')
export class EndpointStatsController {
  constructor(private readonly statistics: EndpointStatistics) {}

  @Get()
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'Get the statistics of an endpoint',
    description:
      'Returns the statistics of a time range, the number of waiting deliveries and the time of the next retry. The statistics are about two seconds old.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: EndpointStatsItem, description: 'Statistics of the inbound endpoint.' })
  async getEndpointStats(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
    @Query() query: EndpointStatsQuery,
  ): Promise<EndpointStatsItem> {
    const range = { sinceMs: timeMs('since', query.since), untilMs: timeMs('until', query.until) };
    return presentStats(await this.statistics.read(tenant, application, endpoint, range));
  }
}
