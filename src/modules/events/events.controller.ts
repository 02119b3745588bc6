import { Controller, Delete, Get, Header, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { notFound } from '#kernel/errors.js';
import type { Tenant } from '#kernel/tenant.js';
import { Cancelled } from './contract.dto.js';
import { EventDetailItem, EventListQuery, EventPage, presentEvent, presentEventDetail } from './events.dto.js';
import { eventId, EventsService } from './events.service.js';
import { Withdrawal } from './recovery.contract.js';

const EVENT = { name: 'id', description: 'An `evt_` id, or the `msg_` id that a send returned.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** What was accepted, and what became of it. */
@Section('Events', 'What was accepted, and what became of it.')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly withdrawal: Withdrawal,
  ) {}

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
  @ApiParam(EVENT)
  @ApiOkResponse({ type: EventDetailItem, description: 'The event.' })
  async getEvent(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<string> {
    return presentEventDetail(await this.events.find(tenant, id));
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Cancel what waits of an event',
    description: 'Ends its waiting deliveries as `failed` with reason `cancelled`; an attempt that is under way is not retried. With the `msg_` id of a fan-out: of all its events.',
  })
  @ApiParam(EVENT)
  @ApiOkResponse({ type: Cancelled, description: 'How many deliveries it was.' })
  async cancelEvent(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<Cancelled> {
    const cancelled = await this.withdrawal.cancelEvent(tenant.environmentId, eventId(id));
    if (cancelled === null) throw notFound('event');
    return { cancelled };
  }

  @Delete(':id/payload')
  @HttpCode(204)
  @Scope('write')
  @ApiOperation({
    summary: 'Erase a payload',
    description:
      'Removes the payload and the values of the headers for good, of a received event also the query, the headers and the body of its request. ' +
      'The events of a fan-out share one payload: it is erased for all of them. What waits ends as `failed` with reason `erased`; attempts stay.',
  })
  @ApiParam(EVENT)
  @ApiNoContentResponse({ description: 'Erased, now or before.' })
  async erasePayload(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    if (!(await this.withdrawal.erase(tenant.environmentId, eventId(id)))) throw notFound('event');
  }
}
