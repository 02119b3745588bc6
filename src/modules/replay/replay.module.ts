import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { ReplayController } from './replay.controller.js';
import { ReplayService } from './replay.service.js';

/** Replay of one event, and the redrive of dead letters. */
@Module({
  imports: [EventsModule],
  controllers: [ReplayController],
  providers: [ReplayService],
})
export class ReplayModule {}
