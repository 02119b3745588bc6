import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '#kernel/observability/metrics.js';
import { CpuBudget } from '#sandbox/cpu-budget.js';
import { Sandbox } from '#sandbox/sandbox.js';
import type { PipelineResult } from './pipeline-result.js';

/** Counts what providers send, and watches the sandbox. */
@Injectable()
export class IngestMetrics {
  private readonly requests: Counter<'outcome'>;

  constructor(metrics: Metrics, sandbox: Sandbox, cpuBudget: CpuBudget) {
    this.requests = metrics.counter(
      'ingest_requests_total',
      'Requests of providers: accepted, duplicate (kept; no event), refused (the signature did not hold; kept), handshake, unavailable (a proxy was away; not kept), method_not_allowed (not kept).',
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
      "CPU time per second that slow code (customers' code, filters, rules and schemas) uses in this process at most while deliveries need it; absent while nothing has to wait.",
      [],
      (gauge) => {
        gauge.reset();
        if (Number.isFinite(cpuBudget.pace)) gauge.set(cpuBudget.pace / 1000);
      },
    );
  }

  /** A method that its endpoint does not take. */
  notAllowed(): void {
    this.requests.inc({ outcome: 'method_not_allowed' });
  }

  received({ eventId, answer, isRepeat }: PipelineResult): void {
    const accepted = eventId === null ? 'handshake' : isRepeat ? 'duplicate' : 'accepted';
    this.requests.inc({ outcome: typeof answer === 'string' ? answer : accepted });
  }
}
