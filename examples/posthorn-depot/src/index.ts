import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module, ValidationPipe } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Extension, type Role } from 'posthorn';
import {
  Attempts,
  CarrierPreset,
  DepotPolicy,
  DepotRetryPolicy,
  DepotTokens,
  DestinationChanges,
  ShelfAdapter,
} from './extension-points.js';
import { Lockers } from './lockers.js';
import { DepotBlobs, DepotPrinter } from './mail.js';
import { DepotParcels1732500000000, ParcelEntity } from './parcel.entity.js';
import { ParcelsController } from './parcels.controller.js';
import { LockerExists } from './parcels.dto.js';
import { ParcelsService } from './parcels.service.js';
import { Tally, TALLY_QUEUE, TallyController, TallyProcessor, TallyTools } from './tally.js';

/** An extension that uses every extension point, written from docs/extending.md alone. */
@Extension({ name: 'depot', entities: [ParcelEntity], migrations: [DepotParcels1732500000000] })
@Module({})
export default class DepotModule {
  static forRoot(role: Role): DynamicModule {
    return {
      module: DepotModule,
      imports: [TypeOrmModule.forFeature([ParcelEntity]), BullModule.registerQueue({ name: TALLY_QUEUE })],
      controllers: [ParcelsController, TallyController],
      providers: [
        CarrierPreset,
        DepotBlobs,
        DepotPolicy,
        DepotPrinter,
        DepotRetryPolicy,
        DepotTokens,
        LockerExists,
        Lockers,
        ParcelsService,
        ShelfAdapter,
        Tally,
        TallyTools,
        ...(role === 'api' ? [] : [Attempts, DestinationChanges, TallyProcessor]),
        ...(process.env['DEPOT_GLOBAL_PIPE'] === 'true' ? [{ provide: APP_PIPE, useClass: ValidationPipe }] : []),
      ],
    };
  }
}
