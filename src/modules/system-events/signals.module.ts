import { Global, Module } from '@nestjs/common';
import { SystemEvents } from '#modules/system-events/contract.js';
import { NotedSignals } from './noted-signals.js';
import { SignalsStore } from './signals.store.js';

/** Global, because every other module can record signals. Depends on no other module. */
@Global()
@Module({
  providers: [NotedSignals, SignalsStore, { provide: SystemEvents, useExisting: NotedSignals }],
  exports: [NotedSignals, SignalsStore, SystemEvents],
})
export class SignalsModule {}
