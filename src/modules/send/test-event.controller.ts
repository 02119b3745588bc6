import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags, ApiUnprocessableEntityResponse } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Tenant } from '#kernel/tenant.js';
import { presentTest, TestSent, unattempted } from './send.dto.js';
import { TestEventService } from './test-event.service.js';

/** API to send test events to a destination. */
@ApiTags('Destinations')
@Controller('v1/destinations/:id/test')
export class TestEventController {
  constructor(private readonly tests: TestEventService) {}

  @Post()
  @Audit()
  @RateLimit({ name: 'test', count: 300, seconds: 60 })
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Send a test event',
    description:
      'Sends an event of type `posthorn.test` through the normal delivery path. Returns the result of the first attempt.',
  })
  @ApiParam({ name: 'id', description: 'Id of the destination.', example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiOkResponse({ type: TestSent, description: 'The result of the first attempt.' })
  @ApiUnprocessableEntityResponse({ description: 'The destination is disabled.' })
  async testDestination(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Req() { idempotency }: FastifyRequest,
  ): Promise<TestSent> {
    const { eventId, attempt } = await this.tests.run(tenant, id, idempotency, unattempted);
    return presentTest(eventId, attempt);
  }
}
