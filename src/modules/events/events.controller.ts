import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import {
  ApiBody,
  ApiConflictResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, CurrentTenant, Scope } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryAfter } from '#http/openapi-sections.js';
import { notFound } from '#kernel/errors.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { ExchangeList, presentExchanges } from './attempts/exchanges.dto.js';
import { Exchanges } from './attempts/exchanges.js';
import { presentSigned, SignBody, SignedRequestItem } from './attempts/signing.dto.js';
import { Signing } from './attempts/signing.js';
import { Cancelled } from './contract.dto.js';
import { Erase } from './erasure/erase.js';
import {
  EventCountItem,
  EventDetailItem,
  EventFilterQuery,
  EventListQuery,
  EventPage,
  presentCount,
  presentEventDetail,
  presentEventPage,
} from './events.dto.js';
import { eventId, EventsService } from './events.service.js';
import { Payloads } from './payload.js';

const EVENT = {
  name: 'id',
  description: 'An `evt_` id, or the `msg_` id that a send returned.',
  example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};

/** What was accepted, and what became of it. */
@Section('Events', 'What was accepted, and what became of it.')
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly erasing: Erase,
    private readonly payloads: Payloads,
    private readonly exchanges: Exchanges,
    private readonly signing: Signing,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List events',
    description:
      'Newest first; every filter may be combined with every other. A page looks through a bounded number of rows, so that it answers soon however many events there are: ' +
      'one that ended before it was full says so with `searched_to`, and `next_cursor` goes on behind it.',
  })
  @ApiOkResponse({ type: EventPage, description: 'One page of events.' })
  async listEvents(@CurrentTenant() tenant: Tenant, @Query() query: EventListQuery): Promise<EventPage> {
    return presentEventPage(await this.events.list(tenant, query));
  }

  @Get('count')
  @Scope('read')
  @ApiOperation({
    summary: 'Count events',
    description: 'How many events the list with the same filters has, up to 10,000.',
  })
  @ApiOkResponse({ type: EventCountItem, description: 'The count.' })
  async countEvents(@CurrentTenant() tenant: Tenant, @Query() query: EventFilterQuery): Promise<EventCountItem> {
    return presentCount(await this.events.count(tenant, query));
  }

  @Get(':id')
  @HoldsContent()
  @Scope('read')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    summary: 'Get an event',
    description:
      'With its payload, its deliveries and every attempt. A fan-out is many events: its `msg_` id is 404, with `details.events` saying where they are listed.',
  })
  @ApiParam(EVENT)
  @ApiOkResponse({ type: EventDetailItem, description: 'The event.' })
  async getEvent(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<string> {
    return presentEventDetail(await this.events.find(caller.tenant, id), caller);
  }

  @Get(':id/payload')
  @HoldsContent()
  @Scope('read')
  @Header('cache-control', 'no-store')
  @Header('content-disposition', 'attachment; filename="payload"')
  @Header('content-security-policy', "sandbox; default-src 'none'")
  @Header('x-content-type-options', 'nosniff')
  @ApiOperation({
    summary: 'Get a payload',
    description:
      'The payload by itself, whatever its size, byte for byte as it is delivered: JSON in the characters that it was sent with, or what was received, ' +
      'with the content type that it came with. It is a download, which no browser runs. Also takes the `msg_` id of a fan-out. 404 once it was erased.',
  })
  @ApiParam(EVENT)
  @ApiOkResponse({
    description: 'The payload.',
    content: {
      'application/json': { schema: {}, example: { amount: 4200 } },
      '*/*': { schema: { type: 'string', format: 'binary' }, example: 'amount=4200' },
    },
  })
  async getEventPayload(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    const { contentType, bytes } = await this.payloads.find(tenant, eventId(id));
    void reply.header('content-type', contentType);
    return bytes;
  }

  @Get(':id/exchanges')
  @HoldsContent()
  @Scope('read')
  @ApiOperation({
    summary: 'What was sent and answered',
    description:
      'URL and headers of attempts over HTTP that failed, as they were sent, and the headers of their answers, as they came: recorded at the attempt, not made up now. ' +
      'Nothing is recorded of an attempt that was answered with 2xx. Also takes the `msg_` id of a send.',
  })
  @ApiParam(EVENT)
  @ApiOkResponse({ type: ExchangeList, description: 'The exchanges, the latest first.' })
  async listEventExchanges(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<ExchangeList> {
    return presentExchanges(await this.exchanges.findByEvent(caller.tenant, eventId(id)), caller);
  }

  @Post(':id/sign')
  @HoldsContent()
  @HttpCode(200)
  @Scope('write')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Sign a stored delivery',
    description:
      'URL and headers as an attempt would send them now, signed with the keys of now, to send the payload by hand while somebody looks for what is wrong. ' +
      'Nothing is sent, and no secret is shown: the signature holds for this message and five minutes. That it was asked for, and by whom, is in the audit log.',
  })
  @ApiParam(EVENT)
  @ApiBody({ type: SignBody, required: false })
  @ApiOkResponse({ type: SignedRequestItem, description: 'The request, less its body.' })
  @ApiConflictResponse({
    description: 'Deliveries to this destination are no signed requests, or it is gone.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  async signEvent(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body?: SignBody,
  ): Promise<SignedRequestItem> {
    return presentSigned(await this.signing.sign(tenant, eventId(id), body?.delivery));
  }

  @Post(':id/cancel')
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Cancel what waits of an event',
    description:
      'Ends its waiting deliveries as `failed` with reason `cancelled`; an attempt that is under way is not retried. With the `msg_` id of a fan-out: of all its events.',
  })
  @ApiParam(EVENT)
  @ApiOkResponse({ type: Cancelled, description: 'How many deliveries it was.' })
  async cancelEvent(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<Cancelled> {
    const cancelled = await this.erasing.cancel(tenant.environmentId, eventId(id));
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
  @TryAfter('Replay')
  async erasePayload(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    if (!(await this.erasing.erase(tenant.environmentId, eventId(id)))) throw notFound('event');
  }
}
