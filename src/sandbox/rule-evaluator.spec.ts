import { compileFilter, type Condition } from '#engine/conditions/condition.js';
import { RequestView } from '#engine/conditions/request-view.js';
import { type CompiledRules, compileRules } from '#engine/conditions/rules.js';
import { Metrics } from '#kernel/observability/metrics.js';
import type { CallEnd } from './call-thread.js';
import { type EvaluationResult, Evaluator, MeteredAllowance } from './evaluation.js';
import { type EvaluationCall, RuleEvaluator } from './rule-evaluator.js';
import type { SlotThread } from './thread-slot.js';

const now = (): number => performance.now();

/** Evaluates tasks in this thread instead of a worker thread. */
class SameThread implements SlotThread<EvaluationCall, EvaluationResult | 'overrun'> {
  readonly ready = Promise.resolve(true);
  readonly isAlive = true;
  private readonly evaluator = new Evaluator();

  constructor(private readonly meter = now) {}

  async run(given: EvaluationCall): Promise<CallEnd<EvaluationResult | 'overrun'>> {
    const { question, timeoutMs, sliceMs } = structuredClone(given);
    const from = this.meter();
    const { verdict, isCut } = this.evaluator.answer(
      question,
      new MeteredAllowance(() => this.meter() - from, timeoutMs, sliceMs),
    );
    return { answer: isCut && sliceMs !== null ? 'overrun' : verdict, cpuMs: 1 };
  }

  async stop(): Promise<void> {}
}

const OWNER = { organization: 'o', endpoint: 'e' };

function judgeOf(meter = now): { judge: RuleEvaluator; counted: () => Promise<string> } {
  const metrics = new Metrics();
  const rules = new RuleEvaluator(metrics, undefined, async () => new SameThread(meter));
  return { judge: rules, counted: () => metrics.registry.getSingleMetricAsString('posthorn_judgements_total') };
}

function filterOf(source: unknown): Condition {
  const compiled = compileFilter(source, 'filter');
  if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults));
  return compiled.condition;
}

function rulesOf(source: unknown): CompiledRules {
  const compiled = compileRules(source, 'rules');
  if ('faults' in compiled) throw new Error(JSON.stringify(compiled.faults));
  return compiled.rules;
}

const viewOf = (text: string, type = 'application/json'): RequestView =>
  new RequestView(
    {
      method: 'POST',
      path: '',
      query: '',
      url: '',
      ip: '',
      headers: [['content-type', type]],
      body: Buffer.from(text),
    },
    'none',
  );

const body = (op: string, value: string): object => ({ type: 'body', op, value });
const TEXT = Array.from({ length: 9_000 }, (_, i) => `word ${i};`).join('');

describe('RuleEvaluator', () => {
  it('decides conditions that exceed the small allowance: a harmless pattern on 90 KB, and 63 contains on 70 KB', async () => {
    const { judge, counted } = judgeOf();
    const filters = [
      filterOf(body('matches', 'word [0-9]+;word 8999;')),
      filterOf(body('matches', 'word 9000;')),
      filterOf({ all: Array.from({ length: 63 }, (_, i) => body('contains', `word ${100 * i};`)) }),
    ];
    const view = viewOf(TEXT);
    expect(filters.map((filter) => filter.matches(view))).toEqual([false, false, false]);
    expect(view.isExhausted).toBe(true);

    expect(await judge.filters(OWNER, filters, view)).toEqual([true, false, true]);

    expect(await counted()).toContain('{kind="filters",outcome="decided"} 1');
  });

  it('evaluates filters on this thread and only those that take too long on another one', async () => {
    const { judge, counted } = judgeOf();
    let asked = 0;
    const owner = () => {
      asked += 1;
      return OWNER;
    };
    const quick = filterOf(body('contains', 'word 1;'));
    const slow = filterOf(body('matches', 'word [0-9]+;word 8999;'));

    expect(judge.matches(owner, [null, quick], viewOf('word 1;'))).toEqual([true, true]);
    expect(asked).toBe(0);
    expect(await judge.matches(owner, [null, quick, slow, null], viewOf(TEXT))).toEqual([true, true, true, true]);
    expect(asked).toBe(1);
    expect(await counted()).toContain('{kind="filters",outcome="decided"} 1');
    await judge.close();
  });

  it('does not start another thread for null filters, even if earlier conditions took too long', async () => {
    const { judge, counted } = judgeOf();
    const view = viewOf(TEXT);
    filterOf(body('matches', 'word [0-9]+;word 8999;')).matches(view);
    expect(view.isExhausted).toBe(true);

    expect(judge.matches(() => OWNER, [null], view)).toEqual([true]);
    expect(await counted()).not.toContain('{kind="filters"');
  });

  it('reads the form of a body of which only a part is sent to the thread', async () => {
    const { judge } = judgeOf();
    const payload = JSON.stringify({ action: 'opened', text: '"'.repeat(50_000) });
    const filter = filterOf({
      all: [
        { path: '$.action', op: 'eq', value: 'opened' },
        { type: 'form', name: 'last', op: 'eq', value: '1' },
      ],
    });
    const form = new URLSearchParams({ payload, last: '1' }).toString();

    expect(await judge.filters(OWNER, [filter], viewOf(form, 'application/x-www-form-urlencoded'))).toEqual([true]);
    await judge.close();
  });

  it('finds the fiftieth of fifty rules with 64 leaves each, on 128 KB', async () => {
    const { judge } = judgeOf();
    const when = (last: string): object => ({
      all: [...Array.from({ length: 63 }, (_, i) => body('contains', `word ${i};`)), body('contains', last)],
    });
    const rules = rulesOf({
      rules: Array.from({ length: 50 }, (_, i) => ({
        when: when(i === 49 ? 'word 8999;' : `nothing ${i}`),
        respond: { status: 200 + i },
      })),
    });
    const view = viewOf(TEXT.padEnd(131_072));
    expect(rules.first(view)).toBe(-1);

    const place = await judge.first(OWNER, rules, view);

    expect(place).toBe(49);
    expect(rules.answer(place ?? -1, view.fresh())?.status).toBe(249);
  });

  it('returns an unknown result and counts it when the time is over', async () => {
    let usedMs = 0;
    const { judge, counted } = judgeOf(() => (usedMs += 3_000));
    const view = viewOf(TEXT);
    const filters = [
      filterOf({ all: Array.from({ length: 60 }, (_, i) => body('matches', `word ${i};`)) }),
      filterOf(body('contains', 'word 1;')),
    ];

    expect(await judge.filters(OWNER, filters, view)).toEqual([null, null]);

    expect(await counted()).toContain('{kind="filters",outcome="undecided"} 1');
  });

  it('validates values against schemas, and returns the faults of an invalid schema', async () => {
    const { judge } = judgeOf();
    const schema = JSON.stringify({ required: ['a'] });

    expect(await judge.schema(OWNER, schema, '{"a":1}')).toMatchObject({ schemaFaults: [], valueFaults: [] });
    expect(await judge.schema(OWNER, schema, '{}')).toMatchObject({
      valueFaults: [{ path: 'a', message: 'is required' }],
    });
    expect(await judge.schema(OWNER, '{"type":"text"}', null)).toMatchObject({
      schemaFaults: expect.arrayContaining([expect.objectContaining({ path: 'type' })]),
      valueFaults: [],
    });
  });

  it('503: after the shutdown of the evaluator', async () => {
    const { judge } = judgeOf();
    await judge.close();

    await expect(judge.filters(OWNER, [filterOf(body('contains', 'a'))], viewOf('a'))).rejects.toMatchObject({
      type: 'unavailable',
    });
  });
});
