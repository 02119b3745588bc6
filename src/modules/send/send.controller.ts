import { Body, Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentTenant, Scope } from '#http/access.js';
import { clientOf } from '#http/client.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { setRequestId } from '#http/request-id.js';
import type { Tenant } from '#kernel/tenant.js';
import { SendAccepted, SendBody } from './send.dto.js';
import { acceptedBody, SendService } from './send.service.js';

/** API to send a payload to one target. */
@Section('Send', 'Send one payload to one target.')
@Controller('v1/send')
export class SendController {
  constructor(private readonly sending: SendService) {}

  @Post()
  @HttpCode(202)
  @Scope('write')
  @Idempotent('accept')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    summary: 'Send a webhook',
    description:
      'Accepts one payload for one target. The response is sent after the message is stored durably. Delivery starts immediately.',
  })
  @ApiAcceptedResponse({
    type: SendAccepted,
    description: 'The message is accepted. It will be delivered, or become a dead letter that can be replayed.',
  })
  async sendWebhook(
    @CurrentTenant() tenant: Tenant,
    @Body() body: SendBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const id = await this.sending.send(tenant, {
      destination: body.destination,
      eventType: body.event_type,
      headers: body.headers,
      payload: body.payload,
      bodyText: request.bodyText ?? '',
      idempotency: request.idempotency,
      traceparent: request.headers.traceparent as string | undefined,
      caller: clientOf(request),
    });
    setRequestId(request, reply, id);
    return acceptedBody(id);
  }
}
