import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Metrics } from '#kernel/metrics.js';
import { Judge } from './judge.js';
import { Sandbox } from './sandbox.js';

/** Threads for what tenants bring that may take long: their JavaScript, their conditions and schemas. */
@Global()
@Module({
  providers: [
    { provide: Sandbox, useFactory: () => new Sandbox() },
    { provide: Judge, useFactory: (metrics: Metrics) => new Judge(metrics), inject: [Metrics] },
  ],
  exports: [Sandbox, Judge],
})
export class SandboxModule implements OnApplicationShutdown {
  constructor(private readonly sandbox: Sandbox, private readonly judge: Judge) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.sandbox.close(), this.judge.close()]);
  }
}
