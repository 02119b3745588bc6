import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import type { Config } from '#kernel/config/config.js';
import { ApplicationsModule } from '../applications/applications.module.js';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { EventsModule } from '../events/events.module.js';
import { LedgerModule } from '../ledger/ledger.module.js';
import { ReceivingModule } from '../receiving/receiving.module.js';
import { ApplicationJobsController } from './application-jobs.controller.js';
import { ApplicationJobs } from './application-jobs.js';
import { ApplicationPages } from './application-pages.js';
import { Cancel } from './cancel.js';
import { CancelWork } from './cancel-work.js';
import { EraseWork } from './erase-work.js';
import { EventJobs } from './event-jobs.js';
import { LiveLoad } from './live-load.js';
import { NamedTargets } from './named-targets.js';
import { RangePages } from './range-pages.js';
import { RangeReplay } from './range-replay.js';
import { RecoverController } from './recover.controller.js';
import { Recover } from './recover.js';
import { RecoverPages } from './recover-pages.js';
import { Release } from './release.js';
import { ReplayController } from './replay.controller.js';
import { ReplayProcessor } from './replay.processor.js';
import { REPLAY_QUEUE, ReplayQueue } from './replay.queue.js';
import { ReplayService } from './replay.service.js';
import { ReplayTools } from './replay.tools.js';
import { ReplayJobs } from './replay-jobs.js';
import { ReplayJobsStore } from './replay-jobs.store.js';
import { ReplayKinds } from './replay-kinds.js';
import { ReplayPages } from './replay-pages.js';
import { ReplayReconciler } from './replay-reconciler.js';
import { ReplayRunner } from './replay-runner.js';
import { ReplayAnnouncer, ReplayStart } from './replay-start.js';
import { ReplaysController } from './replays.controller.js';
import { RequestsWork } from './requests-work.js';
import { ResendController } from './resend.controller.js';
import { Resend } from './resend.js';
import { SelectedPages } from './selected-pages.js';

const WORKER = [
  ApplicationPages,
  CancelWork,
  EraseWork,
  LiveLoad,
  RangePages,
  RecoverPages,
  ReplayKinds,
  ReplayProcessor,
  ReplayReconciler,
  ReplayRunner,
  RequestsWork,
  SelectedPages,
];

/** Replays and cancellation of deliveries. Jobs run in the processes that make deliveries. */
@Module({})
export class ReplayModule {
  static register(role: Config['role']): DynamicModule {
    return {
      module: ReplayModule,
      imports: [
        BullModule.registerQueue({ name: REPLAY_QUEUE }),
        ApplicationsModule,
        DestinationsModule,
        EventsModule,
        LedgerModule,
        ReceivingModule,
      ],
      controllers: [
        ApplicationJobsController,
        RecoverController,
        ReplayController,
        ReplaysController,
        ResendController,
      ],
      providers: [
        ApplicationJobs,
        Cancel,
        EventJobs,
        NamedTargets,
        RangeReplay,
        Recover,
        Release,
        ReplayJobs,
        ReplayJobsStore,
        ReplayPages,
        ReplayService,
        ReplayStart,
        ReplayTools,
        Resend,
        { provide: ReplayAnnouncer, useClass: ReplayQueue },
        ...(role === 'worker' || role === 'all' ? WORKER : []),
      ],
    };
  }
}
