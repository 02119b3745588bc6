import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { EgressAgent } from './agent.js';
import { Dialer } from './dialer.js';
import { EgressGate } from './gate.js';

/** The one door out of the process, for every context and adapter. */
@Global()
@Module({
  providers: [
    Dialer,
    EgressGate,
    { provide: EgressAgent, useFactory: (gate: EgressGate) => new EgressAgent({ policy: () => gate.policy() }), inject: [EgressGate] },
  ],
  exports: [Dialer, EgressAgent, EgressGate],
})
export class EgressModule implements OnApplicationShutdown {
  constructor(private readonly agent: EgressAgent) {}

  /** What still runs by now has outlived the drain. */
  async onApplicationShutdown(): Promise<void> {
    await this.agent.destroy();
  }
}
