import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryAfter } from '#http/openapi-sections.js';
import type { Tenant } from '#kernel/tenant.js';
import { EndpointChanges } from './endpoint-changes.js';
import { EndpointRegistration } from './endpoint-registration.js';
import { EndpointSecrets } from './endpoint-secrets.js';
import {
  endpointChanges,
  EndpointChangesBody,
  EndpointDetail,
  endpointId,
  EndpointListQuery,
  EndpointPage,
  EndpointSecretBody,
  newEndpoint,
  NewEndpointBody,
  presentEndpoint,
  presentPage,
} from './endpoints.dto.js';
import { EndpointsService } from './endpoints.service.js';

const ID = { name: 'id', description: 'Id of the endpoint.', example: 'ep_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };
const GRACE_SECONDS_DEFAULT = 86_400;

/** API that manages the inbound endpoints of an environment. */
@Section(
  'Endpoints',
  'URLs to which providers send webhooks, with their verification, responses, transforms and routes.',
)
@Controller('v1/endpoints')
export class EndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly registration: EndpointRegistration,
    private readonly changes: EndpointChanges,
    private readonly secrets: EndpointSecrets,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List endpoints',
    description: 'Returns the endpoints without rules and code, newest first.',
  })
  @ApiOkResponse({ type: EndpointPage, description: 'One page of endpoints.' })
  async listEndpoints(@CurrentTenant() tenant: Tenant, @Query() query: EndpointListQuery): Promise<EndpointPage> {
    return presentPage(await this.endpoints.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Create an endpoint',
    description:
      'The endpoint receives requests immediately. Returns 409 if another endpoint of this installation has the same URL.',
  })
  @ApiCreatedResponse({ type: EndpointDetail, description: 'The endpoint.' })
  async createEndpoint(@CurrentTenant() tenant: Tenant, @Body() body: NewEndpointBody): Promise<EndpointDetail> {
    return presentEndpoint(await this.endpoints.view(await this.registration.create(tenant, newEndpoint(body))));
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({ summary: 'Get an endpoint', description: 'Returns the endpoint without its secrets.' })
  @ApiParam(ID)
  @ApiOkResponse({ type: EndpointDetail, description: 'The endpoint.' })
  async getEndpoint(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<EndpointDetail> {
    return presentEndpoint(await this.endpoints.find(tenant, endpointId(id)));
  }

  @Patch(':id')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change an endpoint',
    description:
      'Omitted fields keep their value. `null` clears a field. A new `url` replaces the old one. Returns 409 if another endpoint of this installation has the new URL.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: EndpointDetail, description: 'The changed endpoint.' })
  async updateEndpoint(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: EndpointChangesBody,
  ): Promise<EndpointDetail> {
    return presentEndpoint(
      await this.endpoints.view(await this.changes.update(tenant, endpointId(id), endpointChanges(body))),
    );
  }

  @Delete(':id')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an endpoint',
    description:
      'The URL can be reused immediately. The events of the endpoint stay until their retention period ends.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The resource was deleted.' })
  @TryAfter('Replay')
  async deleteEndpoint(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.changes.remove(tenant, endpointId(id));
  }

  @Put(':id/secret')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: "Set the provider's secret",
    description:
      'Previous secrets are still accepted for verification until the grace period ends. At most five previous secrets are kept.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The secret is stored. It is never returned.' })
  async setEndpointSecret(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: EndpointSecretBody,
  ): Promise<void> {
    const graceMs = (body.grace_seconds ?? GRACE_SECONDS_DEFAULT) * 1000;
    await this.secrets.put(tenant, endpointId(id), body.secret, graceMs);
  }
}
