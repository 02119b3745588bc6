import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import type { Tenant } from '#kernel/tenant.js';
import { FailingApplicationList, FailingApplicationsQuery, presentFailing } from './failing-applications.dto.js';
import { FailingApplications } from './failing-applications.js';
import { timeMs } from './windows.js';

/** API for the applications with failing deliveries. */
@ApiTags('Metrics')
@Controller('v1/metrics/applications')
export class FailingApplicationsController {
  constructor(private readonly failing: FailingApplications) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List failing applications',
    description:
      'Returns applications with failures since a given time, ordered by number of failures, with failure count, failure rate, oldest failure and affected endpoints. The data comes from rollups and is about two seconds old.',
  })
  @ApiOkResponse({ type: FailingApplicationList, description: 'Applications with failures; empty if there are none.' })
  async listFailingApplications(
    @CurrentTenant() tenant: Tenant,
    @Query() { since, limit }: FailingApplicationsQuery,
  ): Promise<FailingApplicationList> {
    const rows = await this.failing.list(tenant, { sinceMs: timeMs('since', since), limit });
    return { data: rows.map(presentFailing) };
  }
}
