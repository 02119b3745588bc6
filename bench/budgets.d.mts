/** Everything that one run measured. */
export interface Measured {
  /** Medians over the rounds, by row. */
  readonly rows: ReadonlyMap<string, Figures>;
  readonly rounds: ReadonlyMap<string, readonly Figures[]>;
  /** Slices of the rows that are measured alternately. */
  readonly slices: readonly {
    readonly name: string;
    readonly round: number;
    readonly half: number;
    readonly figures: Figures;
  }[];
  readonly connections: number;
  /** Deliveries per second that the row `memory` requests. */
  readonly memoryPerSecond: number;
}

/** The figures of a row that budgets refer to. Times are in milliseconds, CPU in microseconds per delivery. */
export interface Figures {
  readonly deliveriesPerSecond: number;
  readonly accept: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly receipt: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly cpuMicros: Readonly<Record<string, number>>;
  readonly others: number;
  readonly steal: number;
  readonly waiting: number;
  readonly commits: number;
  readonly lost: number;
  readonly backlog?: { readonly max: number };
  readonly memory?: { readonly idle: { readonly total: number }; readonly atWork: { readonly total: number } };
  /** Figures of each part of the window, in the form of the total. */
  readonly parts?: readonly object[];
}

/** `pairs`: the two figures of a ratio, one pair per sample. `value`: a count. */
export interface Budget {
  readonly name: string;
  readonly rows: readonly string[];
  /** `>=` or `<=`, a space, and a number. */
  readonly bound: string;
  readonly pairs?: (measured: Measured) => (readonly [number, number])[];
  readonly value?: (measured: Measured) => number | undefined;
}

/** `low` to `high`: 95 % confidence interval of the ratio. `isDisturbed`: other programs used the machine. */
export interface Judged {
  readonly name: string;
  readonly bound: string;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly samples: number;
  readonly isDisturbed: boolean;
  readonly verdict: 'kept' | 'FAIL' | 'not shown' | 'not measured';
}

export declare const BUDGETS: readonly Budget[];
export declare function judge(budget: Budget, measured: Measured): Judged;
export declare function judgeAll(measured: Measured): Judged[];
export declare function budgetLines(judged: readonly Judged[]): string;
