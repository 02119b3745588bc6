import { Body, Controller, Delete, Get, HttpCode, Param, Put, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { CurrentTenant, Scope } from '#http/access.js';
import { Audit } from '#http/audit.js';
import { Section } from '#http/openapi-sections.js';
import { ResendErrors } from '#http/resend-errors.js';
import type { Tenant } from '#kernel/tenant.js';
import {
  presentSubscription,
  presentSubscriptions,
  TopicSubscriptionBody,
  TopicSubscriptionItem,
  TopicSubscriptionListQuery,
  TopicSubscriptionPage,
} from './topic-subscriptions.dto.js';
import { TopicSubscriptionsService } from './topic-subscriptions.service.js';

const ID = { name: 'id', description: 'The topic, given by its id or its key.', example: 'newsletter' };
const ADDRESS = {
  name: 'address',
  description: 'Email address of the subscriber, percent-encoded.',
  example: 'customer@example.org',
};

/** API for the subscriptions of addresses to a topic. */
@Section('Topics', 'Kinds of email that recipients can unsubscribe from, and the addresses that did.')
@ResendErrors()
@Controller('v1/topics/:id/subscriptions')
export class TopicSubscriptionsController {
  constructor(private readonly subscriptions: TopicSubscriptionsService) {}

  @Get()
  @Scope('read')
  @ApiOperation({
    summary: 'List the subscriptions to a topic',
    description:
      "Returns the addresses whose subscription was set, newest first. The topic's default applies to all other addresses.",
  })
  @ApiParam(ID)
  @ApiOkResponse({ type: TopicSubscriptionPage, description: 'One page of subscriptions.' })
  async listTopicSubscriptions(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Query() query: TopicSubscriptionListQuery,
  ): Promise<TopicSubscriptionPage> {
    return presentSubscriptions(await this.subscriptions.list(tenant, id, query));
  }

  @Get(':address')
  @Scope('read')
  @ApiOperation({
    summary: 'Get the subscription of an address',
    description:
      "Returns the subscription that was set for the address. If none was set, returns the topic's default with the origin `default`.",
  })
  @ApiParam(ID)
  @ApiParam(ADDRESS)
  @ApiOkResponse({ type: TopicSubscriptionItem, description: 'The subscription.' })
  async getTopicSubscription(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('address') address: string,
  ): Promise<TopicSubscriptionItem> {
    return presentSubscription(await this.subscriptions.find(tenant, id, address));
  }

  @Put(':address')
  @Audit()
  @HttpCode(200)
  @Scope('write')
  @ApiOperation({
    summary: 'Set the subscription of an address',
    description:
      'Applies to emails that are accepted later and to the next attempt of waiting emails. Subscribe an address only if its owner asked for it.',
  })
  @ApiParam(ID)
  @ApiParam(ADDRESS)
  @ApiOkResponse({ type: TopicSubscriptionItem, description: 'The subscription.' })
  async setTopicSubscription(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('address') address: string,
    @Body() { subscription }: TopicSubscriptionBody,
  ): Promise<TopicSubscriptionItem> {
    return presentSubscription(await this.subscriptions.set(tenant, id, address, subscription));
  }

  @Delete(':address')
  @Audit()
  @HttpCode(204)
  @Scope('write')
  @ApiOperation({
    summary: 'Remove the subscription of an address',
    description: "Deletes the subscription that was set. The topic's default then applies to the address again.",
  })
  @ApiParam(ID)
  @ApiParam(ADDRESS)
  @ApiNoContentResponse({ description: 'The subscription was removed.' })
  async deleteTopicSubscription(
    @CurrentTenant() tenant: Tenant,
    @Param('id') id: string,
    @Param('address') address: string,
  ): Promise<void> {
    await this.subscriptions.remove(tenant, id, address);
  }
}
