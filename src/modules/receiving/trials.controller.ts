import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit, HoldsContent } from '#http/audit.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Tenant } from '#kernel/tenant.js';
import { endpointIdOf, requestId } from './requests.dto.js';
import { presentTried, TrialBody, TrialResult } from './trial.dto.js';
import { Trial } from './trial.js';

/** API to try filters, rules and transforms on requests that were already received. */
@ApiTags('Endpoints')
@Controller('v1/endpoints/:id')
export class TrialsController {
  constructor(private readonly trial: Trial) {}

  @Post('trial')
  @Audit('never')
  @HoldsContent()
  @RateLimit({ name: 'trial', count: 300, seconds: 60 })
  @HttpCode(200)
  @Scope('write')
  @ApiOperation({
    summary: 'Try settings on a raw request',
    description:
      'Processes a received request with a transform, routes or rules that need not be saved, and returns the outcome. Nothing is stored, delivered or sent to the provider. Code gets the name of each secret in parentheses instead of its value, and authentication headers are hidden.',
  })
  @ApiParam({ name: 'id', description: 'Id of the endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' })
  @ApiOkResponse({ type: TrialResult, description: 'The outcome of the trial.' })
  async trySettings(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: TrialBody,
  ): Promise<TrialResult> {
    const { request, transform, routes, responseRules } = body;
    const asked = routes?.map(({ destination, filter }) => ({
      destination: destination ?? null,
      filter: filter ?? null,
    }));
    return presentTried(
      await this.trial.run(tenant, endpointIdOf(id), requestId(request), { transform, routes: asked, responseRules }),
    );
  }
}
