import { Body, Controller, Delete, Get, Header, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentCaller, CurrentTenant, Scope, TakesPortalToken } from '#http/access.js';
import { Audit, HoldsContent } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section, TryAfter } from '#http/openapi-sections.js';
import { noSuch } from '#kernel/errors.js';
import { parseId } from '#kernel/ids.js';
import type { Caller, Tenant } from '#kernel/tenant.js';
import { APPLICATION } from '#modules/applications/contract.dto.js';
import { MessagesStore } from '#modules/events/messages.store.js';
import { ApplicationEndpointsStore } from './application-endpoints.store.js';
import { ApplicationRemoval } from './application-removal.js';
import {
  ApplicationChangesBody,
  ApplicationCreationQuery,
  ApplicationDetail,
  ApplicationListQuery,
  ApplicationPage,
  MessageDetail,
  MessagePage,
  NewApplicationBody,
  presentApplication,
  presentApplications,
  presentMessage,
  presentMessageDetail,
} from './applications.dto.js';
import type { ApplicationEntity } from './applications.entities.js';
import { ApplicationList, ApplicationsService } from './applications.service.js';

/** Applications: one per customer of the caller. */
@Section(
  'Applications',
  'Your customers. Each has endpoints that subscribe to event types, and messages that were sent to it.',
)
@Controller('v1/app')
export class ApplicationsController {
  constructor(
    private readonly applications: ApplicationsService,
    private readonly list: ApplicationList,
    private readonly removal: ApplicationRemoval,
    private readonly endpoints: ApplicationEndpointsStore,
    private readonly messages: MessagesStore,
  ) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List applications', description: 'Returns the newest items first.' })
  @ApiOkResponse({ type: ApplicationPage, description: 'One page of applications.' })
  async listApplications(
    @CurrentTenant() tenant: Tenant,
    @Query() query: ApplicationListQuery,
  ): Promise<ApplicationPage> {
    return presentApplications(await this.list.page(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Create an application',
    description:
      'This call is optional: the first send to an unknown uid creates the application. Returns 409 if the uid is taken.',
  })
  @ApiOkResponse({
    type: ApplicationDetail,
    description: 'An application with this uid already exists and is returned (`get_if_exists`).',
  })
  @ApiCreatedResponse({ type: ApplicationDetail, description: 'The application.' })
  async createApplication(
    @CurrentTenant() tenant: Tenant,
    @Query() query: ApplicationCreationQuery,
    @Body() body: NewApplicationBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApplicationDetail> {
    const { uid, name, metadata } = body;
    const { row, isNew } = await this.applications.create(
      tenant,
      { uid, name, metadata },
      query.get_if_exists ?? false,
    );
    if (!isNew) reply.code(200);
    return this.detail(row);
  }

  @Get(':app')
  @Scope('read')
  @ApiOperation({ summary: 'Get an application' })
  @ApiParam(APPLICATION)
  @ApiOkResponse({ type: ApplicationDetail, description: 'The application.' })
  async getApplication(@CurrentTenant() tenant: Tenant, @Param('app') application: string): Promise<ApplicationDetail> {
    return this.detail(await this.applications.find(tenant, application));
  }

  @Patch(':app')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change an application',
    description: 'Omitted fields keep their values. Returns 409 if the uid is taken.',
  })
  @ApiParam(APPLICATION)
  @ApiOkResponse({ type: ApplicationDetail, description: 'The changed application.' })
  async updateApplication(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Body() { uid, name, metadata }: ApplicationChangesBody,
  ): Promise<ApplicationDetail> {
    return this.detail(await this.applications.update(tenant, application, { uid, name, metadata }));
  }

  @Delete(':app')
  @Audit()
  @Scope('write')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete an application',
    description:
      'Deletes the application and its endpoints. Waiting deliveries to the URLs of the endpoints become `failed`.',
  })
  @ApiParam(APPLICATION)
  @ApiNoContentResponse({ description: 'The resource was deleted.' })
  @TryAfter('Replay')
  async deleteApplication(@CurrentTenant() tenant: Tenant, @Param('app') application: string): Promise<void> {
    await this.removal.remove(tenant, application);
  }

  @Get(':app/messages')
  @HoldsContent()
  @Scope('read')
  @TakesPortalToken('view')
  @ApiOperation({
    summary: 'List the messages of an application',
    description:
      'Returns the messages sent to the application, newest first, including messages that no endpoint subscribed to.',
  })
  @ApiParam(APPLICATION)
  @ApiOkResponse({ type: MessagePage, description: 'One page of messages.' })
  async listMessages(
    @CurrentTenant() tenant: Tenant,
    @Param('app') application: string,
    @Query() query: ApplicationListQuery,
  ): Promise<MessagePage> {
    const { id } = await this.applications.find(tenant, application);
    const { messages, nextCursor } = await this.messages.page(tenant, id, query);
    return { data: messages.map(presentMessage), next_cursor: nextCursor };
  }

  @Get(':app/messages/:message')
  @HoldsContent()
  @Scope('read')
  @TakesPortalToken('view')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    summary: 'Get a message',
    description:
      'Returns the message with its payload. `GET /v1/events?message_id=` returns its events with their status.',
  })
  @ApiParam(APPLICATION)
  @ApiParam({
    name: 'message',
    description: 'The `msg_` id that `POST /v1/app/{app}/event` returned.',
    example: 'msg_01KAJ5T3Z9Q8W7V6X5Y4Z3A2B1',
  })
  @ApiOkResponse({ type: MessageDetail, description: 'The message.' })
  async getMessage(
    @CurrentCaller() caller: Caller,
    @Param('app') application: string,
    @Param('message') message: string,
  ): Promise<string> {
    const { tenant } = caller;
    const { id } = await this.applications.find(tenant, application);
    const messageId = parseId('msg', message);
    const found = messageId && (await this.messages.find(tenant, messageId));
    if (!found || found.applicationId !== id) throw noSuch('message');
    return presentMessageDetail(found, caller);
  }

  private async detail(row: ApplicationEntity): Promise<ApplicationDetail> {
    return { ...presentApplication(row), endpoint_count: await this.endpoints.count(row.environmentId, row.id) };
  }
}
