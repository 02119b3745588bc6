import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import type { Tenant } from '#kernel/tenant.js';
import { presentSubscribers, SubscriberListQuery, SubscriberPage } from './subscribers.dto.js';
import { Subscribers } from './subscribers.js';

/** Endpoints that receive events of a type. */
@ApiTags('Event types')
@Controller('v1/event-types/:name/subscribers')
export class SubscribersController {
  constructor(private readonly subscribers: Subscribers) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List the subscribers of an event type',
    description:
      'Returns endpoints of all applications that subscribe to the event type by name, by prefix, or by subscribing to all types, newest first. ' +
      'Each call scans a limited number of endpoints, so a page can be short or empty without being the last.',
  })
  @ApiParam({ name: 'name', description: 'Name of the event type, percent-encoded.', example: 'invoice.paid' })
  @ApiOkResponse({ type: SubscriberPage, description: 'One page of subscribers.' })
  async listEventTypeSubscribers(
    @CurrentTenant() tenant: Tenant,
    @Param('name') name: string,
    @Query() query: SubscriberListQuery,
  ): Promise<SubscriberPage> {
    return presentSubscribers(await this.subscribers.list(tenant, name, query));
  }
}
