import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentCaller, CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { TryAfter } from '#http/openapi-sections.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { APPLICATION, ENDPOINT } from '#modules/applications/contract.dto.js';
import { Reachability } from '#modules/destinations/reachability.js';
import { ApplicationEndpointChanges } from './application-endpoint-changes.js';
import { ApplicationEndpointRegistration } from './application-endpoint-registration.js';
import {
  ApplicationEndpointChangesBody,
  ApplicationEndpointCreated,
  ApplicationEndpointDetail,
  ApplicationEndpointListQuery,
  ApplicationEndpointPage,
  EndpointUrlBody,
  EndpointUrlItem,
  NewApplicationEndpointBody,
  presentCreated,
  presentEndpoints,
  presentEndpointTo,
} from './application-endpoints.dto.js';
import { ApplicationEndpointsService } from './application-endpoints.service.js';
import { Applications } from './applications.js';
import { CHANGED_IN_PORTAL, NEW_IN_PORTAL, PortalEndpoints } from './portal-endpoints.js';

/** Endpoints that receive a customer's events. */
@ApiTags('Applications')
@Controller('v1/app/:app/endpoints')
export class ApplicationEndpointsController {
  constructor(
    private readonly applications: Applications,
    private readonly endpoints: ApplicationEndpointsService,
    private readonly registration: ApplicationEndpointRegistration,
    private readonly changes: ApplicationEndpointChanges,
    private readonly customers: PortalEndpoints,
    private readonly checks: Reachability,
  ) {}

  @Get()
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'List the endpoints of an application',
    description: 'Returns the endpoints, newest first. An application has at most 1,000 endpoints.',
  })
  @ApiParam(APPLICATION)
  @ApiOkResponse({ type: ApplicationEndpointPage, description: 'One page of endpoints.' })
  async listApplicationEndpoints(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Query() query: ApplicationEndpointListQuery,
  ): Promise<ApplicationEndpointPage> {
    return presentEndpoints(await this.endpoints.list(caller.tenant, application, query), caller);
  }

  @Post()
  @Audit()
  @Scope('write')
  @TakesPortalToken('manage', { fields: NEW_IN_PORTAL })
  @Idempotent()
  @ApiOperation({
    summary: 'Create an endpoint of an application',
    description:
      'The endpoint receives events sent from now on. A URL is not probed, because your customer may not be ready yet. Returns 409 if the application already has 1,000 endpoints or the uid is taken.',
  })
  @ApiParam(APPLICATION)
  @ApiCreatedResponse({ type: ApplicationEndpointCreated, description: 'The endpoint, including its signing secret.' })
  async createApplicationEndpoint(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Body() body: NewApplicationEndpointBody,
  ): Promise<ApplicationEndpointCreated> {
    const { row, secret } = await this.registration.create(
      caller.tenant,
      application,
      this.customers.creation(caller, body),
      this.customers.placesMax(caller),
    );
    return presentCreated(caller, await this.endpoints.view(row), secret);
  }

  @Post('check')
  @Audit('never')
  @RateLimit({ name: 'check', count: 300, seconds: 60 })
  @Scope('write')
  @TakesPortalToken('manage')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Check a URL for an endpoint',
    description:
      'Checks whether the URL can be reached. Nothing is stored, and only a probe request is sent to the URL.',
  })
  @ApiParam(APPLICATION)
  @ApiOkResponse({ type: EndpointUrlItem, description: 'Whether the URL can be reached.' })
  async checkApplicationEndpointUrl(
    @CurrentTenant() { environmentId }: Tenant,
    @Param('app') application: string,
    @Body() { url }: EndpointUrlBody,
  ): Promise<EndpointUrlItem> {
    await this.applications.find(environmentId, application);
    return this.checks.tryUrl(url);
  }

  @Get(':endpoint')
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'Get an endpoint of an application',
    description: 'Returns the endpoint without its secrets.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: ApplicationEndpointDetail, description: 'The endpoint.' })
  async getApplicationEndpoint(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
  ): Promise<ApplicationEndpointDetail> {
    const { environmentId } = caller.tenant;
    const { id } = await this.applications.endpoint(environmentId, application, endpoint);
    return presentEndpointTo(caller, await this.endpoints.find(environmentId, id));
  }

  @Patch(':endpoint')
  @Audit()
  @Scope('write')
  @TakesPortalToken('manage', { fields: CHANGED_IN_PORTAL })
  @ApiOperation({
    summary: 'Change an endpoint of an application',
    description:
      'Omitted fields keep their values. A URL can be replaced by another URL, and a destination by another destination. A URL and a destination cannot replace each other.',
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiOkResponse({ type: ApplicationEndpointDetail, description: 'The changed endpoint.' })
  async updateApplicationEndpoint(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
    @Body() body: ApplicationEndpointChangesBody,
  ): Promise<ApplicationEndpointDetail> {
    const { tenant } = caller;
    const found = await this.applications.endpoint(tenant.environmentId, application, endpoint);
    const changed = await this.changes.update(tenant, found, await this.customers.change(caller, found, body));
    return presentEndpointTo(caller, await this.endpoints.view(changed));
  }

  @Delete(':endpoint')
  @Audit()
  @Scope('write')
  @TakesPortalToken('manage')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an endpoint of an application',
    description: "Waiting deliveries to the endpoint's URL become `failed`.",
  })
  @ApiParam(APPLICATION)
  @ApiParam(ENDPOINT)
  @ApiNoContentResponse({ description: 'The resource was deleted.' })
  @TryAfter('Replay')
  async deleteApplicationEndpoint(
    @CurrentTenant() { environmentId }: Tenant,
    @Param('app') application: string,
    @Param('endpoint') endpoint: string,
  ): Promise<void> {
    await this.changes.remove(environmentId, await this.applications.endpoint(environmentId, application, endpoint));
  }
}
