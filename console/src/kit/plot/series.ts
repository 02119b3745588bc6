/** Theme colours for series. Each is readable on light and dark backgrounds. */
export type Tone = 'accent' | 'good' | 'bad' | 'busy' | 'quiet';

/** A line, or a row of bars, of a plot. */
export interface Series {
  label: string;
  /** One value per window; null if unknown. */
  values: readonly (number | null)[];
  tone: Tone;
  kind: 'bars' | 'line';
  /** Line style. Series must be distinguishable without colour. */
  dash?: 'solid' | 'dashed' | 'dotted';
  /** Text of the legend while the pointer is not over a time window. */
  summary?: string;
}

/** Data of a plot: windows of equal length, and series of values. */
export interface Plotted {
  /** Start of each window, in milliseconds since the epoch, oldest first. */
  startsMs: readonly number[];
  windowMs: number;
  series: readonly Series[];
}
