import { Global, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Metrics } from '#kernel/observability/metrics.js';
import { CpuBudget } from './cpu-budget.js';
import { RuleEvaluator } from './rule-evaluator.js';
import { Sandbox } from './sandbox.js';

/** Threads for potentially slow work of tenants: their JavaScript, their conditions and their schemas. */
@Global()
@Module({
  providers: [
    CpuBudget,
    { provide: Sandbox, useFactory: (pace: CpuBudget) => new Sandbox({ pace }), inject: [CpuBudget] },
    {
      provide: RuleEvaluator,
      useFactory: (metrics: Metrics, pace: CpuBudget) => new RuleEvaluator(metrics, pace),
      inject: [Metrics, CpuBudget],
    },
  ],
  exports: [Sandbox, RuleEvaluator, CpuBudget],
})
export class SandboxModule implements OnApplicationShutdown {
  constructor(
    private readonly sandbox: Sandbox,
    private readonly rules: RuleEvaluator,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.sandbox.close(), this.rules.close()]);
  }
}
