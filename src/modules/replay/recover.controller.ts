import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import type { Tenant } from '#kernel/tenant.js';
import { Cancelled } from '#modules/events/contract.dto.js';
import { Cancel } from './cancel.js';
import { NamedTargets } from './named-targets.js';
import { CancelBody, RecoverBody } from './recover.dto.js';
import { Recover } from './recover.js';
import { presentJob, ReplayJobItem } from './replays.dto.js';

const APP = {
  name: 'app',
  description: 'The application: its `app_` id or your own uid.',
  example: 'customer-42',
};
const ENDPOINT = {
  name: 'endpoint',
  description: 'The endpoint: its `ep_` id or your own uid.',
  example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};
const DESTINATION = { name: 'id', description: 'Id of the destination.', example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const RECOVERS =
  'Starts a background job that sends again every event of the time range whose delivery ended as `failed` or `dlq`. Canceled deliveries are included only with `include_cancelled`. Events without a payload are never sent.';
const CANCELS =
  'Ends the waiting deliveries as `failed` with reason `cancelled`. An attempt in flight completes, but is not retried. ' +
  'Events that are accepted later are delivered.';

/** API to resend failed deliveries to a target, and to cancel deliveries that wait for it. */
@ApiTags('Replay')
@Controller('v1')
export class RecoverController {
  constructor(
    private readonly named: NamedTargets,
    private readonly recoveries: Recover,
    private readonly cancellations: Cancel,
  ) {}

  @Post('destinations/:id/recover')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: 'Resend failed events to a destination', description: RECOVERS })
  @ApiParam(DESTINATION)
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  async recoverDestination(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: RecoverBody,
  ): Promise<ReplayJobItem> {
    return presentJob(await this.recoveries.start(await this.named.destination(tenant, id), body));
  }

  @Post('app/:app/endpoints/:endpoint/recover')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @TakesPortalToken('resend', { fields: ['since', 'until', 'status'] })
  @Idempotent()
  @ApiOperation({ summary: "Resend failed events to an application's endpoint", description: RECOVERS })
  @ApiParam(APP)
  @ApiParam(ENDPOINT)
  @ApiAcceptedResponse({ type: ReplayJobItem, description: 'The job.' })
  async recoverEndpoint(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
    @Body() body: RecoverBody,
  ): Promise<ReplayJobItem> {
    return presentJob(await this.recoveries.start(await this.named.endpoint(tenant, application, endpoint), body));
  }

  @Post('destinations/:id/cancel')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: 'Cancel the deliveries that wait for a destination', description: CANCELS })
  @ApiParam(DESTINATION)
  @ApiBody({ type: CancelBody, required: false })
  @ApiOkResponse({ type: Cancelled, description: 'Number of canceled deliveries.' })
  async cancelDestination(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body?: CancelBody,
  ): Promise<Cancelled> {
    return { cancelled: await this.cancellations.waiting(await this.named.destination(tenant, id), body ?? {}) };
  }

  @Post('app/:app/endpoints/:endpoint/cancel')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: "Cancel the deliveries that wait for an application's endpoint", description: CANCELS })
  @ApiParam(APP)
  @ApiParam(ENDPOINT)
  @ApiBody({ type: CancelBody, required: false })
  @ApiOkResponse({ type: Cancelled, description: 'Number of canceled deliveries.' })
  async cancelEndpoint(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
    @Body() body?: CancelBody,
  ): Promise<Cancelled> {
    return {
      cancelled: await this.cancellations.waiting(await this.named.endpoint(tenant, application, endpoint), body ?? {}),
    };
  }
}
