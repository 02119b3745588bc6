import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventReplayBody, RedriveBody, Redriven, ReplayAccepted } from './replay.dto.js';
import { ReplayService } from './replay.service.js';

const REDRIVES =
  'Sends every dead letter of the selection again, marked as a replay. Those for what is disabled or was deleted stay dead ' +
  'letters and are counted as `skipped`; 409 when there are no others. With an `Idempotency-Key` all are sent in one transaction.';

/** Sending again. */
@Section('Replay', 'Sending again what was sent before.')
@Controller('v1')
export class ReplayController {
  constructor(
    private readonly replays: ReplayService,
    private readonly ids: Ids,
  ) {}

  @Post('events/:id/replay')
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay an event',
    description:
      'Sends the event again with the same `webhook-id` and body and with `webhook-replayed: true`, whatever became of it. ' +
      'Nothing goes to what is disabled or was deleted; 409 when it went nowhere else. `destinations` narrows it to some of those that it went to.',
  })
  @ApiParam({
    name: 'id',
    description: 'An `evt_` id, or the `msg_` id that a send returned.',
    example: 'evt_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  @ApiBody({ type: EventReplayBody, required: false })
  @ApiAcceptedResponse({ type: ReplayAccepted, description: 'The event is on its way again.' })
  async replayEvent(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body?: EventReplayBody,
  ): Promise<ReplayAccepted> {
    const eventId = await this.replays.event(tenant, id, body?.destinations);
    return { replay_id: showId('rpl', this.ids.next()), event_id: showId('evt', eventId) };
  }

  @Post('dlq/redrive')
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: 'Redrive dead letters', description: REDRIVES })
  @ApiBody({ type: RedriveBody, required: false })
  @ApiAcceptedResponse({ type: Redriven, description: 'How many are on their way again.' })
  async redriveDeadLetters(@CurrentTenant() tenant: Tenant, @Body() body?: RedriveBody): Promise<Redriven> {
    const { made, left } = await this.replays.deadLetters(tenant, body ?? {});
    return { redriven: made, skipped: left };
  }
}
