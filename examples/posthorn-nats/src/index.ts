import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { Extension, type Role } from 'posthorn';
import { AttemptCounts } from './attempt-counts.js';
import { CompanyTokens } from './company-tokens.js';
import { Connections } from './connections.js';
import { Counting } from './counting.js';
import { CountsProcessor } from './counts.processor.js';
import { COUNTS_QUEUE, CountsQueue } from './counts.queue.js';
import { DestinationChanges } from './destination-changes.js';
import { NatsAdapter } from './nats.adapter.js';
import { NatsController } from './nats.controller.js';
import { NatsSubjectHourEntity } from './nats.entities.js';
import { NatsSubjectHours1732500000000 } from './nats.migration.js';
import { NatsService } from './nats.service.js';
import { NatsStore } from './nats.store.js';
import { NatsTools } from './nats.tools.js';
import { Outages } from './outages.js';
import { PublishLog } from './publish-log.js';
import { StreamPolicy } from './stream-policy.js';
import { StreamRetryPolicy } from './stream-retry-policy.js';

/** Adds deliveries to NATS JetStream, and an API with counts of published messages. */
@Extension({ name: 'nats', entities: [NatsSubjectHourEntity], migrations: [NatsSubjectHours1732500000000] })
@Module({})
export default class NatsModule {
  /** Returns the module for a role. Jobs run in the same processes as deliveries, never in the role `api`. */
  static register(role: Role): DynamicModule {
    return {
      module: NatsModule,
      imports: [BullModule.registerQueue({ name: COUNTS_QUEUE })],
      controllers: [NatsController],
      providers: [
        CompanyTokens,
        Connections,
        CountsQueue,
        DestinationChanges,
        NatsAdapter,
        NatsService,
        NatsStore,
        NatsTools,
        PublishLog,
        StreamRetryPolicy,
        StreamPolicy,
        ...(role === 'api' ? [] : [AttemptCounts, Counting, CountsProcessor, Outages]),
      ],
    };
  }
}
