import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { ReplayAccepted } from './replay.dto.js';
import { Resend } from './resend.js';

/** API to resend one message of an application. */
@ApiTags('Replay')
@Controller('v1/app/:app/messages/:message/endpoints/:endpoint/resend')
export class ResendController {
  constructor(
    private readonly resending: Resend,
    private readonly ids: Ids,
  ) {}

  @Post()
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @TakesPortalToken('resend')
  @Idempotent()
  @ApiOperation({
    summary: 'Resend a message to an endpoint',
    description:
      'Sends the message to this endpoint of the application again, whatever its state. The request has the same `webhook-id` and body, and the header `webhook-replayed: true`. Returns 404 if the message was not sent to the endpoint. Returns 409 if the payload was erased, if the endpoint is disabled, or if it now has another destination.',
  })
  @ApiParam({
    name: 'app',
    description: 'The application: its `app_` id or your own uid.',
    example: 'customer-42',
  })
  @ApiParam({
    name: 'message',
    description: 'The `msg_` id that `POST /v1/app/{app}/event` returned.',
    example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  @ApiParam({
    name: 'endpoint',
    description: 'The endpoint: its `ep_` id or your own uid.',
    example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  @ApiAcceptedResponse({
    type: ReplayAccepted,
    description: 'The event of the message is sent to the endpoint again.',
  })
  async resendMessage(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Param('message') message: string,
    @Param('endpoint') endpoint: string,
  ): Promise<ReplayAccepted> {
    const eventId = await this.resending.message(tenant, application, message, endpoint);
    return { replay_id: showId('rpl', this.ids.next()), event_id: showId('evt', eventId) };
  }
}
