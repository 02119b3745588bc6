import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import type { Config } from '#kernel/config.js';
import { EndpointsModule } from '../endpoints/endpoints.module.js';
import { EventsModule } from '../events/events.module.js';
import { LiveLoad } from './live-load.js';
import { RangeReplay, ReplayAnnouncer, ReplayBasics } from './range-replay.js';
import { ReplayController } from './replay.controller.js';
import { ReplayJobs } from './replay-jobs.js';
import { ReplayJobsStore } from './replay-jobs.store.js';
import { ReplayPages } from './replay-pages.js';
import { ReplayProcessor } from './replay.processor.js';
import { REPLAY_QUEUE, ReplayQueue } from './replay.queue.js';
import { ReplayReconciler } from './replay-reconciler.js';
import { ReplayReach, ReplayRunner } from './replay-runner.js';
import { ReplayService } from './replay.service.js';
import { ReplaysController } from './replays.controller.js';

const WORKER = [LiveLoad, ReplayProcessor, ReplayReach, ReplayReconciler, ReplayRunner];

/** Sending again: one event, dead letters, and time ranges as jobs, which run where deliveries do. */
@Module({})
export class ReplayModule {
  static for(role: Config['role']): DynamicModule {
    return {
      module: ReplayModule,
      imports: [BullModule.registerQueue({ name: REPLAY_QUEUE }), EndpointsModule, EventsModule],
      controllers: [ReplayController, ReplaysController],
      providers: [
        RangeReplay,
        ReplayBasics,
        ReplayJobs,
        ReplayJobsStore,
        ReplayPages,
        ReplayService,
        { provide: ReplayAnnouncer, useClass: ReplayQueue },
        ...(role === 'api' ? [] : WORKER),
      ],
    };
  }
}
