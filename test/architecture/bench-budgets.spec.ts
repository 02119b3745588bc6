import {
  type Budget,
  budgetLines,
  BUDGETS,
  type Figures,
  judge,
  judgeAll,
  type Judged,
  type Measured,
} from '../../bench/budgets.mjs';

/** Matches the names of budgets for counts (messages, commits, bytes), which do not depend on the machine. */
const COUNTS = /^(?:commits of|memory with|accepted and lost|\S+: most that waited)/;

const budget = (bound: string): Budget => ({
  name: 'a ratio',
  rows: ['row'],
  bound,
  pairs: ({ rounds }) => (rounds.get('row') ?? []).map((each) => [each.deliveriesPerSecond, 1]),
});

/** Returns a benchmark row whose rounds have these delivery rates. */
function measuredAs(...rates: number[]): Measured {
  const rounds = rates.map((deliveriesPerSecond) => figures({ deliveriesPerSecond }));
  return measured(new Map([['row', rounds]]));
}

function measured(rounds: Map<string, Figures[]>, slices: Measured['slices'] = []): Measured {
  return {
    rows: new Map([...rounds].map(([name, [first]]) => [name, first as Figures])),
    rounds,
    slices,
    connections: 128,
    memoryPerSecond: 5000,
  };
}

function figures(given: Partial<Figures> = {}): Figures {
  const latency = { p50: 4, p99: 10, max: 20 };
  return {
    deliveriesPerSecond: 1000,
    accept: latency,
    receipt: { p50: 0.5, p99: 2, max: 5 },
    cpuMicros: { service: 75, postgres: 35, receiver: 14, load: 20 },
    others: 0,
    steal: 0,
    waiting: 0,
    commits: 0.033,
    lost: 0,
    ...given,
  };
}

const verdictOf = (bound: string, ...rates: number[]): Judged['verdict'] =>
  judge(budget(bound), measuredAs(...rates)).verdict;

describe('a budget of the bench', () => {
  it.each<[Judged['verdict'], string, number[]]>([
    ['kept', '>= 0.6', [0.63, 0.65, 0.66, 0.67, 0.68, 0.7]],
    ['FAIL', '>= 0.6', [0.5, 0.52, 0.53, 0.54, 0.55, 0.57]],
    ['not shown', '>= 0.6', [0.5, 0.55, 0.6, 0.62, 0.65, 0.7]],
    ['kept', '<= 2.1', [1.5, 1.6, 1.6, 1.7, 1.8, 2.0]],
    ['FAIL', '<= 2.1', [2.2, 2.3, 2.4, 2.4, 2.5, 2.6]],
    ['not shown', '<= 2.1', [1.9, 2.0, 2.1, 2.2, 2.3, 2.4]],
    ['kept', '<= 1', [1, 1, 1, 1, 1, 1]],
  ])('is %s if the whole interval says so (%s of %j)', (verdict, bound, rates) => {
    expect(verdictOf(bound, ...rates)).toBe(verdict);
  });

  it('is not broken by one outlier among many samples, nor kept by the centre alone', () => {
    expect(verdictOf('>= 0.6', 0.1, 0.66, 0.67, 0.68, 0.69, 0.7, 0.71, 0.72, 0.7, 0.69, 0.68, 0.67)).toBe('kept');
    expect(verdictOf('>= 0.6', 0.3, 0.4, 0.7, 0.8, 0.9, 1)).toBe('not shown');
  });

  it('is "not shown" with fewer than six samples, and "not measured" with none', () => {
    expect(verdictOf('>= 0.6', 0.1, 0.1, 0.1, 0.1, 0.1)).toBe('not shown');
    expect(verdictOf('>= 0.6')).toBe('not measured');
  });

  it('a count is compared as an exact number', () => {
    const lost = (count: number): Judged =>
      judge(
        BUDGETS.find(({ name }) => name === 'accepted and lost') as Budget,
        measured(new Map([['service', [figures({ lost: count })]]])),
      );

    expect([lost(0), lost(1)].map(({ verdict }) => verdict)).toEqual(['kept', 'FAIL']);
  });

  it('has a mark if other processes used the machine meanwhile', () => {
    const disturbed = measured(
      new Map([['row', Array.from({ length: 6 }, () => figures({ deliveriesPerSecond: 1, others: 0.3 }))]]),
    );

    expect(judge(budget('>= 0.6'), disturbed)).toMatchObject({ verdict: 'kept', isDisturbed: true });
    expect(budgetLines([judge(budget('>= 0.6'), disturbed)])).toMatch(
      /^kept\* +a ratio +1 \(1 to 1\), budget >= 0\.6$/,
    );
  });

  it('uses pairs of slices for rows that take turns, and otherwise the parts of the windows', () => {
    const service = BUDGETS.find(({ name }) => name === 'service / limit, rate') as Budget;
    const slice = (name: string, round: number, half: number, deliveriesPerSecond: number) => ({
      name,
      round,
      half,
      figures: figures({ deliveriesPerSecond }),
    });
    // The speed of the machine halves from round to round. Only the ratio of the service's rate to the limit's rate
    // stays constant.
    const slices = [1000, 500, 250].flatMap((rate, round) =>
      [0, 1].flatMap((half) => [slice('service', round, half, rate * 0.7), slice('limit', round, half, rate)]),
    );
    const parts = (rate: number): Figures =>
      figures({ parts: Array.from({ length: 8 }, () => figures({ deliveriesPerSecond: rate })) });

    expect(judge(service, measured(new Map(), slices))).toMatchObject({ verdict: 'kept', samples: 6 });
    expect(
      judge(
        service,
        measured(
          new Map([
            ['service', [parts(300)]],
            ['limit', [parts(600)]],
          ]),
        ),
      ),
    ).toMatchObject({ verdict: 'FAIL', samples: 8 });
  });
});

describe('the budgets', () => {
  const rows = [...new Set(BUDGETS.flatMap((each) => each.rows))];

  /** Returns all benchmark rows as measured on a machine that is slower by the given factor. Counts do not change. */
  function onMachine(factor: number): Measured {
    const draw = (i: number): number => 1 + 0.02 * Math.sin(i * 7);
    const latency = (ms: number, i: number): Figures['accept'] => ({
      p50: ms * factor * 0.6 * draw(i),
      p99: ms * factor * draw(i),
      max: ms * factor * 2,
    });
    const row = (name: string, at: number): Figures => {
      const part = (i: number): Figures =>
        figures({
          deliveriesPerSecond:
            ((name === 'limit' ? 19_000 : name === 'send-open' ? 9_000 : 14_000) / factor) * draw(i + at),
          accept: latency(name === 'tail:limit' ? 6 : 10, i + at),
          receipt: latency(2, i + at),
          cpuMicros: {
            service: (name === 'limit' ? 47 : 75) * factor * draw(i),
            postgres: 35 * factor,
            receiver: 14 * factor,
          },
        });
      return {
        ...part(0),
        parts: Array.from({ length: 8 }, (_, i) => part(i)),
        backlog: { max: 600 },
        memory: { idle: { total: 193 }, atWork: { total: 265 } },
      };
    };
    return { ...measured(new Map(rows.map((name, at) => [name, [row(name, at)]]))), memoryPerSecond: 1 };
  }

  it('give the same verdicts on a machine that is four times slower', () => {
    const verdicts = (factor: number): string[] =>
      judgeAll(onMachine(factor)).map(({ name, verdict }) => `${name}: ${verdict}`);

    expect(verdicts(4)).toEqual(verdicts(1));
    expect(verdicts(1).filter((verdict) => verdict.endsWith('kept')).length).toBeGreaterThan(20);
  });

  it('are ratios, or counts that do not depend on the machine, each with a bound', () => {
    for (const { name, pairs, value, bound } of BUDGETS) {
      expect([name, (pairs === undefined) !== (value === undefined)]).toEqual([name, true]);
      expect([name, bound]).toEqual([name, expect.stringMatching(/^[<>]= \d+(\.\d+)?$/)]);
      if (value !== undefined) expect(name).toMatch(COUNTS);
    }
    expect(new Set(BUDGETS.map(({ name }) => name)).size).toBe(BUDGETS.length);
  });
});
