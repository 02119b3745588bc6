import type { Counter } from 'prom-client';
import type { Condition } from '#engine/conditions/condition.js';
import type { Fault } from '#engine/conditions/faults.js';
import { type RequestView, VISIBLE_BYTES_MAX } from '#engine/conditions/request-view.js';
import type { CompiledRules } from '#engine/conditions/rules.js';
import { unavailable } from '#kernel/errors.js';
import type { Metrics } from '#kernel/observability/metrics.js';
import { CallThread } from './call-thread.js';
import type { CpuBudget } from './cpu-budget.js';
import type { EvaluationQuestion, EvaluationResult, SentRequest } from './evaluation.js';
import { cellsFor, type Owner, type Sliced, ThreadSlots, type ThreadSlotsOptions } from './thread-slots.js';

export interface EvaluationCall extends Sliced {
  question: EvaluationQuestion;
  timeoutMs: number;
}

/** Limit of CPU time. The most expensive allowed patterns (64 tests in 50 rules, on 128 KB) take seven seconds. */
const TIMEOUT_MS = 10_000;
/** Wall-clock limit as a multiple of the CPU limit: on a busy machine, 10 s of CPU time take at least 40 s. */
const WALL_FACTOR = 4;
const QUICK_MAX = 2;
const SLOW_MAX = 4;
const HEAP_MB_MAX = 128;

/**
 * Evaluates tenants' conditions and schemas that are too expensive for the event loop, on threads that organizations
 * share fairly. Callers should first try a short evaluation on the event loop. Throws 503 when the queue is full.
 */
export class RuleEvaluator {
  private readonly threadSlots: ThreadSlots<EvaluationCall, EvaluationResult>;
  private readonly judgements: Counter<'kind' | 'outcome'>;

  constructor(
    metrics: Metrics,
    pace?: CpuBudget,
    startThread: ThreadSlotsOptions<EvaluationCall, EvaluationResult>['startThread'] = (niceness) =>
      startedThread(niceness, pace),
  ) {
    this.threadSlots = new ThreadSlots({
      quickMax: QUICK_MAX,
      slowMax: SLOW_MAX,
      startThread,
      pace,
      wallFactor: WALL_FACTOR,
    });
    this.judgements = metrics.counter(
      'judgements_total',
      'Conditions and schemas that were evaluated off the event loop: decided, undecided (the time was not enough), busy (answered 503).',
      ['kind', 'outcome'],
    );
  }

  /**
   * Returns for each filter whether it matches, or null if this is unknown. A filter that is null matches. Evaluates the
   * filters on this thread. Returns a promise only if this takes too long: the rest is then evaluated on another thread.
   */
  matches(
    owner: () => Owner | Promise<Owner>,
    filters: readonly (Condition | null)[],
    view: RequestView,
  ): (boolean | null)[] | Promise<(boolean | null)[]> {
    const matches = filters.map((filter) => {
      const isMatch = filter === null || filter.matches(view);
      return filter !== null && view.isExhausted ? null : isMatch;
    });
    return matches.includes(null) ? this.completed(owner, filters, matches, view) : matches;
  }

  /** Returns for each filter whether it matches, or null if this is unknown. Evaluates the filters on another thread. */
  async filters(owner: Owner, filters: readonly Condition[], view: RequestView): Promise<(boolean | null)[]> {
    const verdict = await this.ask(owner, { kind: 'filters', filters: filters.map(textOf), ...sent(view) });
    return verdict?.kind === 'filters' ? verdict.matches : filters.map(() => null);
  }

  /** Returns the index of the first matching rule, -1 if none matches, or null if unknown. */
  async first(owner: Owner, rules: CompiledRules, view: RequestView): Promise<number | null> {
    const verdict = await this.ask(owner, { kind: 'rules', rules: textOf(rules), ...sent(view) });
    return verdict?.kind === 'rules' ? verdict.first : null;
  }

  /**
   * Returns the errors of the schema, and, if the schema is valid, the errors of the value. Returns null if the
   * evaluation did not finish. `schema` and `value` are JSON texts.
   */
  async schema(
    owner: Owner,
    schema: string,
    value: string | null,
  ): Promise<{ schemaFaults: Fault[]; valueFaults: Fault[] } | null> {
    const verdict = await this.ask(owner, { kind: 'schema', schema, value });
    return verdict?.kind === 'schema' ? verdict : null;
  }

  /** Replaces each null in `matches` with the result of another thread. */
  private async completed(
    owner: () => Owner | Promise<Owner>,
    filters: readonly (Condition | null)[],
    matches: readonly (boolean | null)[],
    view: RequestView,
  ): Promise<(boolean | null)[]> {
    const open = filters.filter((filter, at): filter is Condition => filter !== null && matches[at] === null);
    const found = (await this.filters(await owner(), open, view)).values();
    return matches.map((isMatch) => (isMatch === null ? (found.next().value ?? null) : isMatch));
  }

  figures(): ReturnType<ThreadSlots<EvaluationCall, EvaluationResult>['figures']> {
    return this.threadSlots.figures();
  }

  close(): Promise<void> {
    return this.threadSlots.close();
  }

  private async ask(owner: Owner, question: EvaluationQuestion): Promise<EvaluationResult | null> {
    const { kind } = question;
    const end = await this.threadSlots.run(owner, { question, timeoutMs: TIMEOUT_MS }, TIMEOUT_MS, bytesOf(question));
    if (end.answer !== null) {
      this.judgements.inc({ kind, outcome: isDecided(end.answer) ? 'decided' : 'undecided' });
      return end.answer;
    }
    const isBusy = end.why === 'busy' || end.why === 'starved' || end.why === 'stopped';
    this.judgements.inc({ kind, outcome: isBusy ? 'busy' : 'undecided' });
    if (isBusy)
      throw unavailable(
        'Too many filters, rules and schemas are being evaluated. Nothing was accepted, send it again.',
      );
    return null;
  }
}

async function startedThread(
  niceness: number,
  pace: CpuBudget | undefined,
): Promise<CallThread<EvaluationCall, EvaluationResult | 'overrun'>> {
  return new CallThread({
    file: new URL('./rule-evaluator-worker.js', import.meta.url),
    workerData: { niceness, cells: cellsFor(niceness, pace) },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });
}

/** Caches the JSON texts of conditions and rules, because each compiled object is evaluated many times. */
const texts = new WeakMap<object, string>();

function textOf(compiled: { source: unknown }): string {
  const text = texts.get(compiled) ?? JSON.stringify(compiled.source);
  texts.set(compiled, text);
  return text;
}

function sent({ request, body: seen, fields, verification }: RequestView): {
  request: SentRequest;
  verification: RequestView['verification'];
} {
  const { method, url, path, query, headers, ip } = request;
  // Copies the part of the body that conditions read. Without a copy, the whole buffer behind the body would be sent,
  // which is often much larger.
  const body = new Uint8Array(seen.subarray(0, VISIBLE_BYTES_MAX + 1));
  return { request: { method, url, path, query, headers, body, ip, fields }, verification };
}

function isDecided(verdict: EvaluationResult): boolean {
  switch (verdict.kind) {
    case 'filters':
      return !verdict.matches.includes(null);
    case 'rules':
      return verdict.first !== null;
    case 'schema':
      return true;
  }
}

function bytesOf(question: EvaluationQuestion): number {
  return question.kind === 'schema'
    ? question.schema.length + (question.value?.length ?? 0)
    : question.request.body.byteLength;
}
