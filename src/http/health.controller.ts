import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiError } from '#kernel/errors.js';
import { Readiness } from '#kernel/observability/readiness.js';
import { VERSION } from '#kernel/version.js';
import { Public } from './access.js';
import { HealthDto } from './health.dto.js';
import { Section } from './openapi-sections.js';

/** Health checks for load balancers and orchestrators. */
@Section(
  'Health',
  'Checks whether the process is alive and ready for traffic. No key is needed, and rate limits do not apply.',
)
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @Public({ uncounted: true })
  @ApiOperation({ summary: 'Check whether the process is alive' })
  isLive(): HealthDto {
    return { status: 'ok' };
  }

  @Get('ready')
  @Public({ uncounted: true })
  @ApiOperation({
    summary: 'Check whether the process is ready for traffic',
    description: 'Returns 503 if the process is not ready. `details` then shows the state of each part.',
  })
  async isReady(): Promise<HealthDto> {
    const { ready, parts } = await this.readiness.report();
    if (!ready) throw new ApiError('unavailable', 'Not ready.', parts);
    return { status: 'ready', version: VERSION, parts };
  }
}
