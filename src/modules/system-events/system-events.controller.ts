import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Scope } from '#http/access.js';
import { Section } from '#http/openapi-sections.js';
import { CATALOGUE } from './catalogue.js';
import { presentCatalogue, SystemEventTypeList } from './system-events.dto.js';

/** What the service tells of itself. */
@Section(
  'System events',
  'Events of the service itself, sent to the destination that PATCH /v1/org names as `system_destination`.',
)
@Controller('v1/system-events')
export class SystemEventsController {
  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List system events',
    description: 'Every event that the service tells of itself, with its schema.',
  })
  @ApiOkResponse({ type: SystemEventTypeList, description: 'The catalogue.' })
  listSystemEvents(): SystemEventTypeList {
    return presentCatalogue(CATALOGUE);
  }
}
