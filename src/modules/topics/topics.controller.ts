import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiConflictResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Idempotent } from '#http/idempotent.js';
import { Section } from '#http/openapi-sections.js';
import { ResendErrors } from '#http/resend-errors.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  NewTopicBody,
  presentTopic,
  presentTopics,
  topicChanges,
  TopicChangesBody,
  topicDraft,
  TopicItem,
  TopicListQuery,
  TopicPage,
} from './topics.dto.js';
import { TopicsService } from './topics.service.js';

const ID = { name: 'id', description: 'The topic, given by its id or its key.', example: 'newsletter' };

/** API for kinds of email that recipients can unsubscribe from. */
@Section('Topics', 'Kinds of email that recipients can unsubscribe from, and the addresses that did.')
@ResendErrors()
@Controller('v1/topics')
export class TopicsController {
  constructor(private readonly topics: TopicsService) {}

  @Get()
  @Scope('read')
  @ApiOperation({ summary: 'List topics', description: 'Returns the topics of the environment, newest first.' })
  @ApiOkResponse({ type: TopicPage, description: 'One page of topics.' })
  async listTopics(@CurrentTenant() tenant: Tenant, @Query() query: TopicListQuery): Promise<TopicPage> {
    return presentTopics(await this.topics.list(tenant, query));
  }

  @Post()
  @Audit()
  @Scope('write')
  @Idempotent()
  @ApiOperation({
    summary: 'Create a topic',
    description: 'Emails name the topic in `unsubscribe` or `topic_id`. Their recipients can then unsubscribe from it.',
  })
  @ApiCreatedResponse({ type: TopicItem, description: 'The topic.' })
  @ApiConflictResponse({ description: 'A topic with this key already exists.' })
  async createTopic(@CurrentTenant() tenant: Tenant, @Body() body: NewTopicBody): Promise<TopicItem> {
    return presentTopic(await this.topics.create(tenant, topicDraft(body)));
  }

  @Get(':id')
  @Scope('read')
  @ApiOperation({ summary: 'Get a topic', description: 'Finds the topic by its id or its key.' })
  @ApiParam(ID)
  @ApiOkResponse({ type: TopicItem, description: 'The topic.' })
  async getTopic(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<TopicItem> {
    return presentTopic(await this.topics.find(tenant, id));
  }

  @Patch(':id')
  @Audit()
  @Scope('write')
  @ApiOperation({
    summary: 'Change a topic',
    description: 'The key and the default subscription cannot be changed, because recipients have relied on them.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TopicItem, description: 'The changed topic.' })
  async updateTopic(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Body() body: TopicChangesBody,
  ): Promise<TopicItem> {
    return presentTopic(await this.topics.change(tenant, id, topicChanges(id, body)));
  }

  @Delete(':id')
  @Audit()
  @HttpCode(204)
  @Scope('write')
  @ApiOperation({
    summary: 'Delete a topic',
    description:
      'Deletes the topic and its subscriptions. Waiting emails of the topic are suppressed, because Posthorn no longer stores who has unsubscribed.',
  })
  @ApiParam(ID)
  @ApiNoContentResponse({ description: 'The topic was deleted.' })
  async deleteTopic(@CurrentTenant() tenant: Tenant, @Param('id') id: string): Promise<void> {
    await this.topics.remove(tenant, id);
  }
}
