import { Controller, Get, Query } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { presentRollup, RollupList, RollupQuery } from './rollups.dto.js';
import { RollupsService } from './rollups.service.js';
import { timeMs } from './windows.js';

const WINDOW_DEFAULT = '1h';

/** Metrics of endpoints and destinations. */
@Section('Metrics', 'Counts and latencies of an endpoint or a destination, by the minute, hour or day.')
@Controller('v1/metrics')
export class RollupsController {
  constructor(private readonly rollups: RollupsService) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'Read metrics',
    description: 'Rollups of one endpoint or destination, kept up to date by a job: the answer is about two seconds old, and exact.',
  })
  @ApiOkResponse({ type: RollupList, description: 'Every window of the range, oldest first.' })
  @ApiNotFoundResponse({
    description: "No such endpoint or destination in the key's environment.",
    schema: { $ref: '#/components/schemas/Error' },
  })
  async listRollups(@CurrentTenant() tenant: Tenant, @Query() query: RollupQuery): Promise<RollupList> {
    const { key, window = WINDOW_DEFAULT } = query;
    const range = { sinceMs: timeMs('since', query.since), untilMs: timeMs('until', query.until) };
    const rollups = await this.rollups.list(tenant, key, window, range);
    return { data: rollups.map((rollup) => presentRollup(window, rollup)) };
  }
}
