import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { SlowPace } from './cpu-budget.js';
import { Judge } from './rule-evaluator.js';
import { Sandbox } from './sandbox.js';

/** Threads for what tenants bring that may take long: their JavaScript, their conditions and schemas. */
@Global()
@Module({
  providers: [
    SlowPace,
    { provide: Sandbox, useFactory: (pace: SlowPace) => new Sandbox({ pace }), inject: [SlowPace] },
    {
      provide: Judge,
      useFactory: (metrics: Metrics, pace: SlowPace) => new Judge(metrics, pace),
      inject: [Metrics, SlowPace],
    },
  ],
  exports: [Sandbox, Judge, SlowPace],
})
export class SandboxModule implements OnApplicationShutdown {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly judge: Judge,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.sandbox.close(), this.judge.close()]);
  }
}
