/** Theme colors for the series of a plot. Each of them is readable on light and dark backgrounds. */
export type Tone = 'accent' | 'good' | 'bad' | 'busy' | 'quiet';

/** A series of values in a plot, drawn as a line or as bars. */
export interface Series {
  label: string;
  /** One value per time window. Null if the value is unknown. */
  values: readonly (number | null)[];
  tone: Tone;
  kind: 'bars' | 'line';
  /** Line style, so that series are distinguishable without color. */
  dash?: 'solid' | 'dashed' | 'dotted';
  /** Text in the legend while the pointer is outside the plot. */
  summary?: string;
}

/** Data of a plot: time windows of equal length, and series of values. */
export interface Plotted {
  /** Start of each time window, in milliseconds since the epoch, oldest first. */
  startsMs: readonly number[];
  windowMs: number;
  series: readonly Series[];
}
