import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import { CurrentCaller, CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryAfter } from '#http/openapi-sections.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { Changes } from './changes.js';
import {
  DestinationDetail,
  destinationId,
  DestinationListQuery,
  DestinationPage,
  presentDestination,
  presentDestinationTo,
  presentPage,
} from './destinations.dto.js';
import { DestinationsService } from './destinations.service.js';
import { Registration } from './registration.js';
import { destinationChanges, DestinationChangesBody, newDestination, NewDestinationBody } from './settings.dto.js';

const ID = { name: 'id', description: 'Id of the destination.', example: 'dst_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1' };

/** API that manages destinations. */
@Section('Destinations', 'The registry of targets: URL, retry settings and signing secret of each destination.')
@Controller('v1/destinations')
export class DestinationsController {
  constructor(
    private readonly destinations: DestinationsService,
    private readonly registration: Registration,
    private readonly changes: Changes,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List destinations', description: 'Returns the newest items first.' })
  @ApiOkResponse({ type: DestinationPage, description: 'One page of destinations.' })
  async listDestinations(
    @CurrentTenant() tenant: Tenant,
    @Query() query: DestinationListQuery,
  ): Promise<DestinationPage> {
    return presentPage(await this.destinations.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Create a destination',
    description: 'The target is probed first. If it is not reachable, no destination is created.',
  })
  @ApiCreatedResponse({ type: DestinationDetail, description: 'The destination.' })
  async createDestination(
    @CurrentTenant() tenant: Tenant,
    @Body() body: NewDestinationBody,
  ): Promise<DestinationDetail> {
    return presentDestination(
      await this.destinations.view(await this.registration.create(tenant, newDestination(body))),
    );
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({ summary: 'Get a destination' })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationDetail, description: 'The destination.' })
  async getDestination(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DestinationDetail> {
    return presentDestinationTo(caller, await this.destinations.find(caller.tenant, destinationId(id)));
  }

  @Patch(':id')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change a destination',
    description: 'If the address or connection settings change, the target is probed before the change is stored.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: DestinationDetail, description: 'The changed destination.' })
  async updateDestination(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: DestinationChangesBody,
  ): Promise<DestinationDetail> {
    return presentDestination(
      await this.destinations.view(await this.changes.update(tenant, destinationId(id), destinationChanges(body))),
    );
  }

  @Delete(':id')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a destination',
    description:
      'Waiting deliveries to the destination become `failed`. Returns 409 if a route or an endpoint of an application sends to the destination. `details.used_by` lists them.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The resource was deleted.' })
  @ApiConflictResponse({
    description: 'A route or an endpoint of an application sends to the destination. `details.used_by` lists them.',
    schema: { $ref: '#/components/schemas/Error' },
  })
  @TryAfter('Metrics')
  async deleteDestination(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.changes.remove(tenant.environmentId, destinationId(id));
  }
}
