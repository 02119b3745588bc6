import { Body, Controller, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { clientOf } from '#http/client.js';
import { Idempotent } from '#http/idempotent.js';
import { setRequestId } from '#http/request-id.js';
import type { Tenant } from '#kernel/tenant.js';
import { EmitBody, EventAccepted } from './fan-out.dto.js';
import { FanOutService } from './fan-out.service.js';

/** API to fan out an event to the endpoints of an application. */
@ApiTags('Send')
@Controller('v1/app/:app/event')
export class FanOutController {
  constructor(private readonly fanOuts: FanOutService) {}

  @Post()
  @HttpCode(202)
  @Scope('write')
  @Idempotent('accept')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    summary: 'Emit an event to an application',
    description:
      'Sends one payload to every endpoint of the application that subscribes to the event type. The message is accepted for all of these endpoints, or for none. An unknown uid creates the application.',
  })
  @ApiParam({
    name: 'app',
    description: 'The application: its `app_` id or your own uid.',
    example: 'customer-42',
  })
  @ApiAcceptedResponse({ type: EventAccepted, description: 'The message is stored for every subscribed endpoint.' })
  async emitEvent(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Body() body: EmitBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { id, body: answer } = await this.fanOuts.emit(tenant, {
      application,
      eventType: body.event_type,
      channels: body.channels ?? [],
      headers: body.headers,
      payload: body.payload,
      bodyText: request.bodyText ?? '',
      idempotency: request.idempotency,
      traceparent: request.headers.traceparent as string | undefined,
      caller: clientOf(request),
    });
    setRequestId(request, reply, id);
    return answer;
  }
}
