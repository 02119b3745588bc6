import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Idempotent } from '#http/idempotent.js';
import { showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { presentAttempt, TestSent } from './send.dto.js';
import { TestEventService } from './test-event.service.js';

/** Tries a destination with an event made for it. */
@ApiTags('Destinations')
@Controller('v1/destinations/:id/test')
export class TestEventController {
  constructor(private readonly tests: TestEventService) {}

  @Post()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Send a test event',
    description: 'Sends an event of type `posthorn.test` through the real path and answers with its first attempt.',
  })
  @ApiParam({ name: 'id', description: 'The destination.', example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiOkResponse({ type: TestSent, description: 'What came of the first attempt.' })
  async testDestination(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<TestSent> {
    const { eventId, attempt } = await this.tests.run(tenant, id);
    return { message_id: showId('msg', eventId), attempt: attempt && presentAttempt(attempt) };
  }
}
