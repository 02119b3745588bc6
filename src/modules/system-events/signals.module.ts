import { Global, Module } from '@nestjs/common';
import { SystemEvents } from '#modules/system-events/contract.js';
import { NotedSignals } from './noted-signals.js';
import { SignalsStore } from './signals.store.js';

/** Where signals are noted. Global, because every context may have something to tell; it depends on none of them. */
@Global()
@Module({
  providers: [NotedSignals, SignalsStore, { provide: SystemEvents, useExisting: NotedSignals }],
  exports: [NotedSignals, SignalsStore, SystemEvents],
})
export class SignalsModule {}
