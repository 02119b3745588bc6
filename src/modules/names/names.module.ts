import { Module } from '@nestjs/common';
import { NamesController } from './names.controller.js';
import { ResourceNamesStore } from './resource-names.store.js';

/** Returns the names of destinations, endpoints and applications by id. It reads data of other contexts. */
@Module({
  controllers: [NamesController],
  providers: [ResourceNamesStore],
  exports: [ResourceNamesStore],
})
export class NamesModule {}
