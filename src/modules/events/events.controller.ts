import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventDetailItem, EventListQuery, EventPage, presentEvent, presentEventDetail } from './events.dto.js';
import { EventsService } from './events.service.js';

/** What was accepted, and what became of it. */
@Section('Events', 'What was accepted, and what became of it.')
@Controller('v1/events')
export class EventsController {
  constructor(private readonly events: EventsService) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List events', description: 'Newest first; every filter may be combined with every other.' })
  @ApiOkResponse({ type: EventPage, description: 'One page of events.' })
  async listEvents(@CurrentTenant() tenant: Tenant, @Query() query: EventListQuery): Promise<EventPage> {
    const { rows, nextCursor } = await this.events.list(tenant, query);
    return { data: rows.map(presentEvent), next_cursor: nextCursor };
  }

  @Get(':id')
  @Scope('read')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'Get an event', description: 'With its payload, its deliveries and every attempt.' })
  @ApiParam({ name: 'id', description: 'An `evt_` id, or the `msg_` id that a send returned.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiOkResponse({ type: EventDetailItem, description: 'The event.' })
  async getEvent(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<string> {
    return presentEventDetail(await this.events.find(tenant, id));
  }
}
