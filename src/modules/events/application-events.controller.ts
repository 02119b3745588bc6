import { Controller, Get, Header, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { HoldsContent } from '#http/audit.js';
import { noSuch } from '#kernel/errors.js';
import { parseId, showId } from '#kernel/ids.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { EventSources } from './event-sources.js';
import {
  ApplicationEventQuery,
  EventDetailItem,
  EventPage,
  presentEventDetail,
  presentEventPage,
} from './events.dto.js';
import { EventsService } from './events.service.js';

const APPLICATION = {
  name: 'app',
  description: 'The application: its `app_` id or your own uid.',
  example: 'customer-42',
};
const EVENT = { name: 'event', description: 'Id of the event.', example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** API for the events that were sent to an application. */
@ApiTags('Applications')
@Controller('v1/app/:app/events')
export class ApplicationEventsController {
  constructor(
    private readonly events: EventsService,
    private readonly sources: EventSources,
  ) {}

  @Get()
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'List the events of an application',
    description:
      'Returns the newest events first. There is one event per message and endpoint. The list works like `GET /v1/events` with the filter `application`, including its limit on scanned rows.',
  })
  @ApiParam(APPLICATION)
  @ApiOkResponse({ type: EventPage, description: 'One page of events.' })
  async listApplicationEvents(
    @CurrentTenant() tenant: Tenant,
    @Param('app') name: string,
    @Query() query: ApplicationEventQuery,
  ): Promise<EventPage> {
    const application = showId('app', await this.sources.existingApplication(tenant.environmentId, name));
    return presentEventPage(await this.events.list(tenant, { ...query, application }));
  }

  @Get(':event')
  @HoldsContent()
  @Scope('read')
  @TakesPortalToken('view')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    summary: 'Get an event of an application',
    description:
      'Returns the event with its payload, its deliveries and every attempt. Returns 404 for an event of another application.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(EVENT)
  @ApiOkResponse({ type: EventDetailItem, description: 'The event.' })
  async getApplicationEvent(
    @CurrentCaller() caller: Caller,
    @Param('app') name: string,
    @Param('event') event: string,
  ): Promise<string> {
    const application = await this.sources.existingApplication(caller.tenant.environmentId, name);
    if (parseId('evt', event) === null) throw noSuch('event');
    const found = await this.events.find(caller.tenant, event);
    if (found.event.applicationId !== application) throw noSuch('event');
    return presentEventDetail(found, caller);
  }
}
