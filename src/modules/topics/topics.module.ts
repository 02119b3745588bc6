import { Module } from '@nestjs/common';
import { TopicSubscriptionsController } from './topic-subscriptions.controller.js';
import { TopicSubscriptionsService } from './topic-subscriptions.service.js';
import { TopicSubscriptionsStore } from './topic-subscriptions.store.js';
import { TopicsController } from './topics.controller.js';
import { Topics } from './topics.js';
import { TopicsService } from './topics.service.js';
import { TopicsStore } from './topics.store.js';

/** Topics of emails, and the subscriptions of addresses to them. */
@Module({
  controllers: [TopicsController, TopicSubscriptionsController],
  providers: [Topics, TopicsService, TopicsStore, TopicSubscriptionsService, TopicSubscriptionsStore],
  exports: [Topics],
})
export class TopicsModule {}
