import { Controller, Get } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { ApiError } from '#kernel/errors.js';
import { Readiness } from '#kernel/observability/readiness.js';
import { VERSION } from '#kernel/version.js';
import { Public } from './access.js';
import { HealthDto } from './health.dto.js';
import { Section } from './openapi-sections.js';

/** What load balancers and orchestrators ask (contract, section 1). */
@Section('Health', 'Whether the process lives and may be sent traffic. Without a key, outside of the rate limits.')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('live')
  @Public({ uncounted: true })
  @ApiOperation({ summary: 'Is the process alive' })
  isLive(): HealthDto {
    return { status: 'ok' };
  }

  @Get('ready')
  @Public({ uncounted: true })
  @ApiOperation({
    summary: 'May the process be sent traffic',
    description: '503 tells in `details` which part is not ready.',
  })
  async isReady(): Promise<HealthDto> {
    const { ready, parts } = await this.readiness.report();
    if (!ready) throw new ApiError('unavailable', 'Not ready.', parts);
    return { status: 'ready', version: VERSION, parts };
  }
}
