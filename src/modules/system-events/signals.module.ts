import { Global, Module } from '@nestjs/common';
import { SystemEvents } from '#modules/system-events/contract.js';
import { NotedSignals } from './noted-signals.js';
import { SignalsStore } from './signals.store.js';

/** The module is global, because every other module can record signals. It depends on no other module. */
@Global()
@Module({
  providers: [NotedSignals, SignalsStore, { provide: SystemEvents, useExisting: NotedSignals }],
  exports: [NotedSignals, SignalsStore, SystemEvents],
})
export class SignalsModule {}
