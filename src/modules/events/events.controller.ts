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
import { Audit, HoldsContent } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryAfter } from '#http/openapi-sections.js';
import { noSuch } from '#kernel/errors.js';
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
  description: 'The `evt_` id of the event, or the `msg_` id that a send returned.',
  example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};

/** API for accepted events and their deliveries. */
@Section('Events', 'Accepted events, their deliveries and attempts.')
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
      'Returns the newest events first. All filters can be combined. Each request scans a limited number of rows. A page that reaches this limit before it is full contains `searched_to`. Continue with `next_cursor`.',
  })
  @ApiOkResponse({ type: EventPage, description: 'One page of events.' })
  async listEvents(@CurrentTenant() tenant: Tenant, @Query() query: EventListQuery): Promise<EventPage> {
    return presentEventPage(await this.events.list(tenant, query));
  }

  @Get('count')
  @Scope('read')
  @ApiOperation({
    summary: 'Count events',
    description: 'Returns the number of events that `GET /v1/events` returns for the same filters, up to 10,000.',
  })
  @ApiOkResponse({ type: EventCountItem, description: 'The number of events.' })
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
      'Returns the event with its payload, its deliveries and every attempt. A message to an application consists of many events. Its `msg_` id returns 404, with the URL of the list of its events in `details.events`.',
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
      'Returns only the payload, of any size, byte for byte as it is delivered. A sent payload is exactly the JSON that was sent. A received body has its original content type. Browsers download the response and do not run it. The `msg_` id of a message to an application is also accepted. Returns 404 after the payload was erased.',
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
    summary: 'Get the requests and responses of failed attempts',
    description:
      'Returns the URLs and headers of failed HTTP attempts and the headers of their responses, as recorded during the attempts. Attempts with a 2xx response are not recorded. The `msg_` id of a send is also accepted.',
  })
  @ApiParam(EVENT)
  @ApiOkResponse({ type: ExchangeList, description: 'The recorded requests and responses, newest first.' })
  async listEventExchanges(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<ExchangeList> {
    return presentExchanges(await this.exchanges.findByEvent(caller.tenant, eventId(id)), caller);
  }

  @Post(':id/sign')
  @Audit()
  @HoldsContent()
  @HttpCode(200)
  @Scope('write')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Sign a stored delivery',
    description:
      'Returns the URL and headers that an attempt would send now, signed with the current keys. Use them to send the payload manually while you debug a receiver. Posthorn sends nothing and returns no secret. The signature is valid only for this message and for five minutes. The audit log records the request and the caller.',
  })
  @ApiParam(EVENT)
  @ApiBody({ type: SignBody, required: false })
  @ApiOkResponse({ type: SignedRequestItem, description: 'The signed request without its body.' })
  @ApiConflictResponse({
    description: 'The type of the destination does not use signed requests, or the destination no longer exists.',
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
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Cancel the waiting deliveries of an event',
    description:
      "Ends the event's waiting deliveries as `failed` with reason `cancelled`. An attempt in flight finishes but is not retried. The `msg_` id of a message to an application cancels the deliveries of all its events.",
  })
  @ApiParam(EVENT)
  @ApiOkResponse({ type: Cancelled, description: 'The number of canceled deliveries.' })
  async cancelEvent(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<Cancelled> {
    const cancelled = await this.erasing.cancel(tenant.environmentId, eventId(id));
    if (cancelled === null) throw noSuch('event');
    return { cancelled };
  }

  @Delete(':id/payload')
  @Audit()
  @HttpCode(204)
  @Scope('write')
  @ApiOperation({
    summary: 'Erase a payload',
    description:
      'Permanently removes the payload and the values of the headers. For a received event, also removes the query, the headers and the body of its request. The events of a message to an application share one payload, so it is erased for all of them. Waiting deliveries end as `failed` with reason `erased`. Attempts are kept.',
  })
  @ApiParam(EVENT)
  @ApiNoContentResponse({ description: 'The payload was erased now or earlier.' })
  @TryAfter('Replay')
  async erasePayload(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    if (!(await this.erasing.erase(tenant.environmentId, eventId(id)))) throw noSuch('event');
  }
}
