import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { PRESETS } from '#engine/inbound/presets.js';
import { Scope } from '#http/access.js';
import { presentPresets, PresetPage } from './presets.dto.js';

/** The providers that endpoints know. */
@ApiTags('Endpoints')
@Controller('v1/presets')
export class PresetsController {
  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List presets',
    description:
      'The providers that an endpoint can be made for, all of them: which secret they sign with, and what they expect.',
  })
  @ApiOkResponse({ type: PresetPage, description: 'The presets.' })
  listPresets(): PresetPage {
    return presentPresets(PRESETS.values());
  }
}
