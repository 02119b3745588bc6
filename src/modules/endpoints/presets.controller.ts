import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scope } from '#http/access.js';
import { presentPresets, PresetPage } from './presets.dto.js';
import { Presets } from './presets.js';

/** API that lists the presets of webhook providers. */
@ApiTags('Endpoints')
@Controller('v1/presets')
export class PresetsController {
  constructor(private readonly presets: Presets) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List presets',
    description:
      'Returns the presets of all supported providers. A preset describes the secret with which the provider signs, and the response that the provider expects.',
  })
  @ApiOkResponse({ type: PresetPage, description: 'The presets.' })
  listPresets(): PresetPage {
    return presentPresets(this.presets.all());
  }
}
