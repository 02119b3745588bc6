import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Tenant } from '#kernel/tenant.js';
import { APPLICATION, ENDPOINT } from '#modules/applications/contract.dto.js';
import { ApplicationEndpointTestBody } from './endpoint-test.dto.js';
import { EndpointTestService } from './endpoint-test.service.js';
import { presentTest, TestSent, unattempted } from './send.dto.js';

/** API to send test events to an application's endpoint. */
@ApiTags('Applications')
@Controller('v1/app/:app/endpoints/:endpoint/test')
export class EndpointTestController {
  constructor(private readonly tests: EndpointTestService) {}

  @Post()
  @Audit()
  @RateLimit({ name: 'test', count: 300, seconds: 60 })
  @HttpCode(200)
  @Scope('write')
  @TakesPortalToken('manage')
  @Idempotent()
  @ApiOperation({
    summary: 'Send a test event to an endpoint',
    description:
      'Sends a test event to this endpoint only, through the normal delivery path and regardless of its subscriptions. Returns the result of the first attempt, or 409 if the endpoint is disabled.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiBody({ type: ApplicationEndpointTestBody, required: false })
  @ApiOkResponse({ type: TestSent, description: 'The result of the first attempt.' })
  async testApplicationEndpoint(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
    @Req() { idempotency }: FastifyRequest,
    @Body() body?: ApplicationEndpointTestBody,
  ): Promise<TestSent> {
    const test = { application, endpoint, eventType: body?.event_type, idempotency, answer: unattempted };
    const { messageId, attempt } = await this.tests.run(tenant, test);
    return presentTest(messageId, attempt);
  }
}
