import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { PRESETS } from '#engine/inbound/presets.js';
import { Scope } from '#http/access.js';
import { presentPresets, PresetPage } from './presets.dto.js';

/** The presets for providers. */
@ApiTags('Endpoints')
@Controller('v1/presets')
export class PresetsController {
  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List presets',
    description:
      'Lists all providers for which an endpoint can be created, with the secret that they sign with and the response that they expect.',
  })
  @ApiOkResponse({ type: PresetPage, description: 'The presets.' })
  listPresets(): PresetPage {
    return presentPresets(PRESETS.values());
  }
}
