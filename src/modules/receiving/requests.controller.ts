import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Idempotent } from '#http/idempotent.js';
import { Ids, showId } from '#kernel/ids.js';
import type { Tenant } from '#kernel/tenant.js';
import { RawRequests } from './raw-requests.js';
import {
  endpointIdOf, EndpointTestBody, EndpointTested, presentRequest, presentRequestDetail, RequestDetailItem, requestId, RequestListQuery,
  RequestPage, RequestReplayed,
} from './requests.dto.js';
import { TestSample } from './sample-events.js';

const ENDPOINT = { name: 'id', description: 'The endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const REQUEST = { name: 'requestId', description: 'A `req_` id, or the `evt_` id of its event.', example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** What providers sent, as it came. */
@ApiTags('Endpoints')
@Controller('v1/endpoints/:id')
export class RequestsController {
  constructor(
    private readonly requests: RawRequests,
    private readonly samples: TestSample,
    private readonly ids: Ids,
  ) {}

  @Get('requests')
  @Scope('read')
  @ApiOperation({ summary: 'List raw requests', description: 'What the endpoint received, newest first, refused ones too. Handshakes are not kept.' })
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: RequestPage, description: 'One page of requests.' })
  async listRequests(@CurrentTenant() tenant: Tenant, @Param('id') id: string, @Query() query: RequestListQuery): Promise<RequestPage> {
    const { rows, nextCursor } = await this.requests.list(tenant, endpointIdOf(id), query);
    return { data: rows.map(presentRequest), next_cursor: nextCursor };
  }

  @Get('requests/:requestId')
  @Scope('read')
  @ApiOperation({ summary: 'Get a raw request', description: 'With its headers, query and body as they came.' })
  @ApiParam(ENDPOINT)
  @ApiParam(REQUEST)
  @ApiOkResponse({ type: RequestDetailItem, description: 'The request.' })
  async getRequest(@CurrentTenant() tenant: Tenant, @Param('id') id: string, @Param('requestId') request: string): Promise<RequestDetailItem> {
    return presentRequestDetail(await this.requests.find(tenant, endpointIdOf(id), requestId(request)));
  }

  @Post('requests/:requestId/replay')
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay a raw request',
    description: 'Runs it through the endpoint as it is set now: verification, transform and routes. It becomes a new event.',
  })
  @ApiParam(ENDPOINT)
  @ApiParam(REQUEST)
  @ApiAcceptedResponse({ type: RequestReplayed, description: 'The new event.' })
  async replayRequest(@CurrentTenant() tenant: Tenant, @Param('id') id: string, @Param('requestId') request: string): Promise<RequestReplayed> {
    const eventId = await this.requests.replay(tenant, endpointIdOf(id), requestId(request));
    return { replay_id: showId('rpl', this.ids.next()), event_id: showId('evt', eventId) };
  }

  @Post('test')
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Send a sample event',
    description: 'Signs a sample event of the preset with the endpoint\'s secret and receives it as if the provider had sent it.',
  })
  @ApiParam(ENDPOINT)
  @ApiBody({ type: EndpointTestBody, required: false })
  @ApiOkResponse({ type: EndpointTested, description: 'What came of it.' })
  async testEndpoint(@CurrentTenant() tenant: Tenant, @Param('id') id: string, @Body() body?: EndpointTestBody): Promise<EndpointTested> {
    const { eventId, answer, verifies } = await this.samples.send(tenant, endpointIdOf(id), body ?? {});
    const status = answer === 'refused' ? 401 : answer === 'unavailable' ? 502 : answer.status;
    return { event_id: eventId && showId('evt', eventId), verified: verifies ? answer !== 'refused' : null, status };
  }
}
