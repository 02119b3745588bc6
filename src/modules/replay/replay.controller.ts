import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventReplayBody, RedriveBody, Redriven, ReplayAccepted } from './replay.dto.js';
import { ReplayService } from './replay.service.js';

const REDRIVES =
  'Sends all selected dead letters again, marked as replays. Dead letters whose target is disabled or was deleted stay dead letters and are counted as `skipped`. Returns 409 if no other dead letters are selected. With an `Idempotency-Key`, all are sent in one transaction.';

/** API to resend stored events. */
@Section('Replay', 'Operations that send stored events and dead letters again.')
@Controller('v1')
export class ReplayController {
  constructor(
    private readonly replays: ReplayService,
    private readonly ids: Ids,
  ) {}

  @Post('events/:id/replay')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay an event',
    description:
      'Sends the event again, whatever its state. The request has the same `webhook-id` and body, and the header `webhook-replayed: true`. Targets that are disabled or were deleted are skipped. Returns 409 if the event has no other target, if its payload was erased, or if it is an email that was canceled before its scheduled time. `destinations` limits the replay to some of the original destinations.',
  })
  @ApiParam({
    name: 'id',
    description: 'The `evt_` id of the event, or the `msg_` id that a send returned.',
    example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  @ApiBody({ type: EventReplayBody, required: false })
  @ApiAcceptedResponse({ type: ReplayAccepted, description: 'The event is sent again.' })
  async replayEvent(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body?: EventReplayBody,
  ): Promise<ReplayAccepted> {
    const eventId = await this.replays.event(tenant, id, body?.destinations);
    return { replay_id: showId('rpl', this.ids.next()), event_id: showId('evt', eventId) };
  }

  @Post('dlq/redrive')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: 'Redrive dead letters', description: REDRIVES })
  @ApiBody({ type: RedriveBody, required: false })
  @ApiAcceptedResponse({ type: Redriven, description: 'The number of dead letters that are sent again.' })
  async redriveDeadLetters(@CurrentTenant() tenant: Tenant, @Body() body?: RedriveBody): Promise<Redriven> {
    const { made, left } = await this.replays.deadLetters(tenant, body ?? {});
    return { redriven: made, skipped: left };
  }
}
