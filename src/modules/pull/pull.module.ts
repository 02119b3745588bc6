import { Module } from '@nestjs/common';
import { DestinationsModule } from '../destinations/destinations.module.js';
import { ReceivingModule } from '../receiving/receiving.module.js';
import { Feeds } from './feeds.js';
import { Positions } from './positions.js';
import { PositionsStore } from './positions.store.js';
import { PullController } from './pull.controller.js';
import { PullService } from './pull.service.js';
import { PullStore } from './pull.store.js';
import { Waiters } from './waiters.js';

@Module({
  imports: [DestinationsModule, ReceivingModule],
  controllers: [PullController],
  providers: [Feeds, Positions, PositionsStore, PullService, PullStore, Waiters],
})
export class PullModule {}
