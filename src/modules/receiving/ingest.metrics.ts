import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';
import { CpuBudget } from '#sandbox/cpu-budget.js';
import { Sandbox } from '#sandbox/sandbox.js';
import type { PipelineResult } from './pipeline-result.js';

@Injectable()
export class IngestMetrics {
  private readonly requests: Counter<'outcome'>;

  constructor(metrics: Metrics, sandbox: Sandbox, cpuBudget: CpuBudget) {
    this.requests = metrics.counter(
      'ingest_requests_total',
      'Requests of providers: accepted, duplicate (stored; no event), refused (the signature did not hold; stored), handshake, unavailable (a proxy was unavailable; not stored), method_not_allowed (not stored), too_large (stored without the body), busy (too many large bodies at once; not stored).',
      ['outcome'],
    );
    metrics.gauge(
      'sandbox_calls',
      "Calls of customers' code by state; slow are those of the running ones that have used more than 50 ms.",
      ['state'],
      (gauge) => {
        const { running, slow, queued } = sandbox.figures();
        gauge.set({ state: 'running' }, running);
        gauge.set({ state: 'slow' }, slow);
        gauge.set({ state: 'queued' }, queued);
      },
    );
    metrics.gauge(
      'sandbox_pace_seconds_per_second',
      "Maximum CPU time per second that slow code (customers' code, filters, rules and schemas) may use in this process while deliveries need the CPU; absent while nothing has to wait.",
      [],
      (gauge) => {
        gauge.reset();
        if (Number.isFinite(cpuBudget.pace)) gauge.set(cpuBudget.pace / 1000);
      },
    );
  }

  rejected(outcome: 'method_not_allowed' | 'too_large' | 'busy'): void {
    this.requests.inc({ outcome });
  }

  received({ eventId, answer, isDuplicate }: PipelineResult): void {
    const accepted = eventId === null ? 'handshake' : isDuplicate ? 'duplicate' : 'accepted';
    this.requests.inc({ outcome: typeof answer === 'string' ? answer : accepted });
  }
}
