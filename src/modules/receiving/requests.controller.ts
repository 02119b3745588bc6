import { Body, Controller, Get, HttpCode, Param, Post, Query, Req } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentCaller, CurrentTenant, Scope } from '#http/access.js';
import { Audit, HoldsContent } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { RateLimit } from '#http/rate-limit.js';
import type { StoredAnswer } from '#kernel/idempotency.js';
import { type Id, Ids } from '#kernel/ids.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { RawRequests } from './raw-requests.js';
import {
  endpointIdOf,
  EndpointTestBody,
  EndpointTested,
  presentReplay,
  presentRequest,
  presentRequestDetail,
  presentTested,
  RequestDetailItem,
  requestId,
  RequestListQuery,
  RequestPage,
  RequestReplayed,
  RequestViewQuery,
} from './requests.dto.js';
import { SampleEvents, type Tested } from './sample-events.js';

const ENDPOINT = { name: 'id', description: 'Id of the endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const REQUEST = {
  name: 'requestId',
  description: 'Id of the request (`req_`), or of its event (`evt_`).',
  example: 'req_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
};

/** API for the HTTP requests of providers, as they were received. */
@ApiTags('Endpoints')
@Controller('v1/endpoints/:id')
export class RequestsController {
  constructor(
    private readonly requests: RawRequests,
    private readonly samples: SampleEvents,
    private readonly ids: Ids,
  ) {}

  @Get('requests')
  @HoldsContent()
  @Scope('read')
  @ApiOperation({
    summary: 'List raw requests',
    description:
      'Lists the requests that the endpoint received, newest first, including rejected ones. Handshakes are not stored.',
  })
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: RequestPage, description: 'One page of requests.' })
  async listRequests(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Query() query: RequestListQuery,
  ): Promise<RequestPage> {
    const { rows, nextCursor } = await this.requests.list(tenant, endpointIdOf(id), query);
    return { data: rows.map(presentRequest), next_cursor: nextCursor };
  }

  @Get('requests/:requestId')
  @HoldsContent()
  @Scope('read')
  @ApiOperation({
    summary: 'Get a raw request',
    description:
      "Returns the headers, query and body as they were received. Credentials are shown only to a key of scope `write`. With scope `read`, they are `(hidden)`. Credentials are the values of authentication headers (`authorization`, `cookie`, the header with the provider's token) and of the query parameter with the provider's key.",
  })
  @ApiParam(ENDPOINT)
  @ApiParam(REQUEST)
  @ApiOkResponse({ type: RequestDetailItem, description: 'The request.' })
  async getRequest(
    @CurrentCaller() { tenant, scope }: Caller,
    @Param('id') id: string,
    @Param('requestId') request: string,
    @Query() { hide_secrets: hidesSecrets = false }: RequestViewQuery,
  ): Promise<RequestDetailItem> {
    return presentRequestDetail(
      await this.requests.find({ tenant, scope: hidesSecrets ? 'read' : scope }, endpointIdOf(id), requestId(request)),
    );
  }

  @Post('requests/:requestId/replay')
  @Audit()
  @HttpCode(202)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Replay a raw request',
    description:
      'Processes the request again with the current settings of the endpoint: verification, transform and routes. Creates a new event.',
  })
  @ApiParam(ENDPOINT)
  @ApiParam(REQUEST)
  @ApiAcceptedResponse({ type: RequestReplayed, description: 'The new event.' })
  async replayRequest(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('requestId') request: string,
    @Req() { idempotency }: FastifyRequest,
  ): Promise<RequestReplayed> {
    const replayId = this.ids.next();
    const keeps = (eventId: Id): StoredAnswer => ({
      status: 202,
      body: JSON.stringify(presentReplay(replayId, eventId)),
    });
    return presentReplay(
      replayId,
      await this.requests.replay(tenant, endpointIdOf(id), requestId(request), idempotency, keeps),
    );
  }

  @Post('test')
  @Audit()
  @RateLimit({ name: 'test', count: 300, seconds: 60 })
  @HttpCode(200)
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Send a sample event',
    description:
      "Signs a sample event of the preset with the endpoint's secret and processes it as if the provider had sent it.",
  })
  @ApiParam(ENDPOINT)
  @ApiBody({ type: EndpointTestBody, required: false })
  @ApiOkResponse({ type: EndpointTested, description: 'The result of the sample event.' })
  async testEndpoint(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Req() { idempotency }: FastifyRequest,
    @Body() body?: EndpointTestBody,
  ): Promise<EndpointTested> {
    const keeps = (tested: Tested): StoredAnswer => ({ status: 200, body: JSON.stringify(presentTested(tested)) });
    return presentTested(await this.samples.send(tenant, endpointIdOf(id), body ?? {}, idempotency, keeps));
  }
}
