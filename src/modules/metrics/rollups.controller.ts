import { Controller, Get, Query } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { isBusy, presentRollup, RollupList, RollupQuery } from './rollups.dto.js';
import { RollupsService } from './rollups.service.js';
import { timeMs } from './windows.js';

const WINDOW_DEFAULT = '1h';

/** Metrics of endpoints, destinations and applications. */
@Section(
  'Metrics',
  'Counts and latencies of an endpoint, a destination, an application or the whole environment, per minute, hour or day.',
)
@Controller('v1/metrics')
export class RollupsController {
  constructor(private readonly rollups: RollupsService) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'Read metrics',
    description:
      'Returns rollups (counts and latencies per time window) of one endpoint, destination or application. They are updated continuously. The data is exact and about two seconds old.',
  })
  @ApiOkResponse({ type: RollupList, description: 'All windows of the range, oldest first.' })
  @ApiNotFoundResponse({
    description: "The key's environment does not have this endpoint, destination or application.",
    schema: { $ref: '#/components/schemas/Error' },
  })
  async listRollups(@CurrentTenant() tenant: Tenant, @Query() query: RollupQuery): Promise<RollupList> {
    const { key, window = WINDOW_DEFAULT, sparse = false } = query;
    const range = { sinceMs: timeMs('since', query.since), untilMs: timeMs('until', query.until) };
    const rollups = await this.rollups.list(tenant, key, window, range);
    return { data: (sparse ? rollups.filter(isBusy) : rollups).map((rollup) => presentRollup(window, rollup)) };
  }
}
