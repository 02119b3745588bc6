/** Theme colors for the series of a plot. Each of them is readable on light and dark backgrounds. */
export type Tone = 'accent' | 'good' | 'bad' | 'busy' | 'quiet';

/** A series of values in a plot, drawn as a line, as bars, or as a part of the plot's stacked bars. */
export interface Series {
  label: string;
  /** One value per time window. Null if the value is unknown. */
  values: readonly (number | null)[];
  tone: Tone;
  /** The parts of a stack lie on top of each other, the first one at the bottom. */
  kind: 'bars' | 'line' | 'stack';
  /**
   * Style of a line. A part of a stack is striped unless it is `solid`. Series must be distinguishable without color.
   */
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

/** Returns whether a series has no value other than zero. The plot does not draw such a series. */
export const isZero = ({ values }: Pick<Series, 'values'>): boolean => values.every((value) => !value);

/** Returns the indexes of the values whose neighbors are unknown. */
export const isolatedIndexes = (values: ArrayLike<number | null | undefined>): number[] =>
  Array.from(values, (_value, index) => index).filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );

/** A series with the values to draw. */
export interface DrawnSeries {
  of: Series;
  values: (number | null)[];
}

/**
 * Returns the series in drawing order: the parts of a stack from the top down, then the others. A part is drawn from
 * the axis up to the sum of itself and the parts below it. In bars, zero becomes null, because it would be drawn as a
 * line on the axis.
 */
export function drawnSeries(series: readonly Series[]): DrawnSeries[] {
  const sums: number[] = [];
  const drawn = series.map((of): DrawnSeries => {
    const values = of.values.map((value, index) => {
      if (isZero(of)) return null;
      if (of.kind === 'line') return value;
      if (of.kind === 'bars') return value || null;
      sums[index] = (sums[index] ?? 0) + (value ?? 0);
      return value ? sums[index] : null;
    });
    return { of, values };
  });
  const isPart = ({ of }: DrawnSeries): boolean => of.kind === 'stack';
  return [...drawn.filter(isPart).reverse(), ...drawn.filter((each) => !isPart(each))];
}
