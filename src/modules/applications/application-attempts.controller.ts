import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import type { Tenant } from '#kernel/tenant.js';
import { APPLICATION, ENDPOINT } from '#modules/applications/contract.dto.js';
import { AttemptLog } from '#modules/events/attempts/attempt-log.js';
import { EndpointAttemptPage, EndpointAttemptQuery, presentAttempt } from './application-attempts.dto.js';
import { Applications } from './applications.js';

/** Delivery attempts to a customer's endpoint. */
@ApiTags('Applications')
@Controller('v1/app/:app/endpoints/:endpoint/attempts')
export class ApplicationAttemptsController {
  constructor(
    private readonly applications: Applications,
    private readonly attempts: AttemptLog,
  ) {}

  @Get()
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'List the attempts of an endpoint',
    description:
      'Returns attempts grouped by event. The newest event and the newest attempt of each event come first. A filtered page can be short or empty and still have a `next_cursor`.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: EndpointAttemptPage, description: 'One page of attempts.' })
  async listAttempts(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
    @Query() query: EndpointAttemptQuery,
  ): Promise<EndpointAttemptPage> {
    const { id } = await this.applications.endpoint(tenant.environmentId, application, endpoint);
    const { attempts, nextCursor } = await this.attempts.page(tenant, id, query);
    return { data: attempts.map((attempt) => presentAttempt(attempt, id)), next_cursor: nextCursor };
  }
}
