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
  /** Style of the line, or of the bars: solid or striped. Series must be distinguishable without color. */
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

/**
 * Returns the values to draw: null for zero, which would be drawn as a line on the axis, and for each part of a stack
 * the sum of itself and the parts below it.
 */
export function drawnValues(series: readonly Series[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map((each) => {
    if (isZero(each)) return each.values.map(() => null);
    if (each.kind === 'line') return [...each.values];
    if (each.kind === 'bars') return each.values.map((value) => value || null);
    return each.values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return value ? sum : null;
    });
  });
}

/** Returns the indexes of the series in the order of drawing: the sums of a stack from the top down, then the others. */
export function drawOrder(series: readonly Pick<Series, 'kind'>[]): number[] {
  const indexes = series.map((_, index) => index);
  const isPart = (index: number): boolean => series[index]?.kind === 'stack';
  return [...indexes.filter(isPart).reverse(), ...indexes.filter((index) => !isPart(index))];
}
