import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { CATALOGUE } from './catalogue.js';
import { presentCatalogue, SystemEventTypeList } from './system-events.dto.js';

/** API for the catalog of events that Posthorn sends about itself. */
@Section(
  'System events',
  'Events about Posthorn itself, sent to the destination that PATCH /v1/org names as `system_destination`.',
)
@Controller('v1/system-events')
export class SystemEventsController {
  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List system events',
    description: 'Returns all system event types with their schemas.',
  })
  @ApiOkResponse({ type: SystemEventTypeList, description: 'The catalog of system event types.' })
  listSystemEvents(): SystemEventTypeList {
    return presentCatalogue(CATALOGUE);
  }
}
