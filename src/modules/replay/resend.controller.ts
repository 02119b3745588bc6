import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Idempotent } from '#http/idempotent.js';
import { Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { ReplayAccepted } from './replay.dto.js';
import { Resend } from './resend.js';

/** Sending one message of an application again. */
@ApiTags('Replay')
@Controller('v1/app/:app/messages/:message/endpoints/:endpoint/resend')
export class ResendController {
  constructor(
    private readonly resending: Resend,
    private readonly ids: Ids,
  ) {}

  @Post()
  @HttpCode(202)
  @Scope('write')
  @TakesPortalToken('resend')
  @Idempotent()
  @ApiOperation({
    summary: 'Resend a message to an endpoint',
    description:
      'Sends the message again to this one endpoint of the application, with the same `webhook-id` and body and with `webhook-replayed: true`, whatever became of it. ' +
      '404 when it did not go to the endpoint; 409 when its payload was erased, or the endpoint is disabled or goes somewhere else now.',
  })
  @ApiParam({
    name: 'app',
    description: 'The application: its `app_` id, or your own id of it.',
    example: 'customer-42',
  })
  @ApiParam({
    name: 'message',
    description: 'The `msg_` id that the fan-out returned.',
    example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  @ApiParam({
    name: 'endpoint',
    description: 'The endpoint: its `ep_` id, or your own id of it.',
    example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  @ApiAcceptedResponse({
    type: ReplayAccepted,
    description: 'The event of the message at the endpoint is on its way again.',
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
