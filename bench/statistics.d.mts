/** `low` to `high`: 95 % confidence interval of the ratio. */
export interface Ratio {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly pairs: number;
}

export declare function quantile(values: readonly number[], share: number): number;
export declare function spreadOf(values: readonly number[]): { median: number; low: number; high: number };
export declare function centreOf(values: readonly number[]): { centre: number; low: number; high: number };
export declare function ratioOf(pairs: readonly (readonly [number, number])[]): Ratio;
export declare function verdictOf(
  ratio: Ratio,
  tolerance: number,
  words: { more: string; less: string },
): { kind: 'same' | 'more' | 'less' | 'unknown'; text: string };

/** Accepted deliveries that had not arrived: at the end of a window, and the maximum within it. */
export interface Backlog {
  readonly end: number;
  readonly max: number;
}

export declare function backlogOf(
  acceptedAt: Float64Array,
  receivedAt: Float64Array,
  copies: number,
  window: readonly [fromMs: number, untilMs: number],
): Backlog;
