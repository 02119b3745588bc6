import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import type { Tenant } from '#kernel/tenant.js';
import { FailingApplicationList, FailingApplicationsQuery, presentFailing } from './failing-applications.dto.js';
import { FailingApplications } from './failing-applications.js';
import { timeMs } from './windows.js';

/** Which customers have trouble. */
@ApiTags('Metrics')
@Controller('v1/metrics/applications')
export class FailingApplicationsController {
  constructor(private readonly failing: FailingApplications) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List failing applications',
    description:
      'Applications with a failure since a time, those with the most first: how many, which share, since when, and at which endpoints. From rollups, about two seconds old.',
  })
  @ApiOkResponse({ type: FailingApplicationList, description: 'The applications; none when all is well.' })
  async listFailingApplications(
    @CurrentTenant() tenant: Tenant,
    @Query() { since, limit }: FailingApplicationsQuery,
  ): Promise<FailingApplicationList> {
    const rows = await this.failing.list(tenant, { sinceMs: timeMs('since', since), limit });
    return { data: rows.map(presentFailing) };
  }
}
