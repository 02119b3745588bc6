import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Sandbox } from './sandbox.js';

/** Somebody else's JavaScript, for whoever runs it. */
@Global()
@Module({
  providers: [{ provide: Sandbox, useFactory: () => new Sandbox() }],
  exports: [Sandbox],
})
export class SandboxModule implements OnApplicationShutdown {
  constructor(private readonly sandbox: Sandbox) {}

  async onApplicationShutdown(): Promise<void> {
    await this.sandbox.close();
  }
}
