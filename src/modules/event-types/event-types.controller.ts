import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { RateLimit } from '#http/rate-limit.js';
import type { Tenant } from '#kernel/tenant.js';
import { EventTypeKeeper } from './event-type-keeper.js';
import {
  EventTypeChangesBody,
  EventTypeDetail,
  EventTypeListQuery,
  EventTypePage,
  EventTypeVersionPage,
  EventTypeVersionsQuery,
  NewEventTypeBody,
  presentType,
  presentTypes,
  presentVersions,
  typeChanges,
  typeDraft,
} from './event-types.dto.js';
import { EventTypesService } from './event-types.service.js';
import { importOptions, OpenApiImportBody, OpenApiImported, presentImport } from './import.dto.js';
import { OpenApiImport } from './import.js';

const NAME = { name: 'name', description: 'Name of the event type, percent-encoded.', example: 'invoice.paid' };

/** API that manages the event types of an environment and their schemas. */
@Section(
  'Event types',
  'A catalog of the events that you send, with names, versioned schemas and examples. An enforced type is validated on every send.',
)
@Controller('v1/event-types')
export class EventTypesController {
  constructor(
    private readonly types: EventTypesService,
    private readonly keeper: EventTypeKeeper,
    private readonly imports: OpenApiImport,
  ) {}

  @Get()
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'List event types',
    description: 'Returns the event types without schemas and examples, newest first.',
  })
  @ApiOkResponse({ type: EventTypePage, description: 'One page of event types.' })
  async listEventTypes(@CurrentTenant() tenant: Tenant, @Query() query: EventTypeListQuery): Promise<EventTypePage> {
    return presentTypes(await this.types.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({ summary: 'Create an event type', description: 'An environment has at most 1,000 event types.' })
  @ApiCreatedResponse({ type: EventTypeDetail, description: 'The event type in version 1.' })
  async createEventType(@CurrentTenant() tenant: Tenant, @Body() body: NewEventTypeBody): Promise<EventTypeDetail> {
    return presentType(await this.keeper.create(tenant, body.name, typeDraft(body)));
  }

  @Post('import/openapi')
  @Audit()
  @RateLimit({ name: 'import', count: 120, seconds: 60 })
  @Scope('write')
  @HttpCode(200)
  @Idempotent()
  @ApiOperation({
    summary: 'Import event types',
    description:
      'Imports all `webhooks` of an OpenAPI document, or none if one of them has an error. A number that a double cannot represent exactly is stored as the nearest double, and listed in `changed_numbers`.',
  })
  @ApiOkResponse({ type: OpenApiImported, description: 'Result for each event type.' })
  async importEventTypes(
    @CurrentTenant() tenant: Tenant,
    @Body() body: OpenApiImportBody,
    @Req() { bodyText }: FastifyRequest,
  ): Promise<OpenApiImported> {
    const options = importOptions(body, bodyText ?? '');
    return presentImport(await this.imports.run(tenant, options), options.dryRun);
  }

  @Get(':name')
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({ summary: 'Get an event type', description: 'Returns the event type with its schema and example.' })
  @ApiParam(NAME)
  @ApiOkResponse({ type: EventTypeDetail, description: 'The event type.' })
  async getEventType(@CurrentTenant() tenant: Tenant, @Param('name') name: string): Promise<EventTypeDetail> {
    return presentType(await this.types.find(tenant, name));
  }

  @Patch(':name')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change an event type',
    description: 'A changed schema creates a new version, which takes effect on every node within five seconds.',
  })
  @ApiParam(NAME)
  @ApiOkResponse({ type: EventTypeDetail, description: 'The changed event type.' })
  async updateEventType(
    @CurrentTenant() tenant: Tenant,
    @Param('name') name: string,
    @Body() body: EventTypeChangesBody,
  ): Promise<EventTypeDetail> {
    return presentType(await this.keeper.change(tenant, name, typeChanges(body)));
  }

  @Delete(':name')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an event type',
    description: 'Deletes the event type with all its versions. To keep the versions, archive the event type instead.',
  })
  @ApiParam(NAME)
  @ApiNoContentResponse({ description: 'The resource was deleted.' })
  async deleteEventType(@CurrentTenant() tenant: Tenant, @Param('name') name: string): Promise<void> {
    await this.keeper.remove(tenant, name);
  }

  @Get(':name/versions')
  @Scope('read')
  @ApiOperation({
    summary: 'List the versions of an event type',
    description: 'Returns all schemas of the event type, newest first.',
  })
  @ApiParam(NAME)
  @ApiOkResponse({ type: EventTypeVersionPage, description: 'One page of versions.' })
  async listEventTypeVersions(
    @CurrentTenant() tenant: Tenant,
    @Param('name') name: string,
    @Query() query: EventTypeVersionsQuery,
  ): Promise<EventTypeVersionPage> {
    return presentVersions(await this.types.versions(tenant, name, query));
  }
}
