/** Colours of the theme that a series may have; each reads on light and dark. */
export type Tone = 'accent' | 'good' | 'bad' | 'busy' | 'quiet';

/** One line, or one row of bars, of a plot. */
export interface Series {
  label: string;
  /** One value for each window; null where nothing is known. */
  values: readonly (number | null)[];
  tone: Tone;
  kind: 'bars' | 'line';
  /** How the line is drawn, so that no series is told by its colour alone. */
  dash?: 'solid' | 'dashed' | 'dotted';
  /** What stands in the legend while nobody points at a window. */
  summary?: string;
}

/** What is plotted: windows of one length, and series over them. */
export interface Plotted {
  /** When each window begins, in milliseconds, oldest first. */
  startsMs: readonly number[];
  windowMs: number;
  series: readonly Series[];
}
