import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { CatalogController } from './catalog.controller.js';
import { Catalog } from './catalog.js';
import { EventTypeKeeper } from './event-type-keeper.js';
import { EventTypesController } from './event-types.controller.js';
import { EventTypes } from './event-types.js';
import { EventTypesService } from './event-types.service.js';
import { EventTypesStore } from './event-types.store.js';
import { OpenApiImport } from './import.js';
import { DocumentTexts } from './openapi-text.js';

@Module({
  imports: [AuthModule],
  controllers: [EventTypesController, CatalogController],
  providers: [Catalog, DocumentTexts, EventTypes, EventTypeKeeper, EventTypesService, EventTypesStore, OpenApiImport],
  exports: [EventTypes],
})
export class EventTypesModule {}
