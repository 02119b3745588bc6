/** Widths that the user chose for columns of a list, in px, by column. */
export type Widths = Readonly<Record<string, number>>;

export const WIDTH_MIN_PX = 64;
export const WIDTH_MAX_PX = 1_200;

export function clampWidth(px: number): number {
  return Math.min(WIDTH_MAX_PX, Math.max(WIDTH_MIN_PX, Math.round(px)));
}

/**
 * Makes columns narrower by `excessPx` in total, in proportion to the width of each column above the minimum. No column
 * becomes narrower than the minimum.
 */
export function shrinkWidths(widths: readonly number[], excessPx: number): number[] {
  const spare = widths.reduce((sum, px) => sum + px - WIDTH_MIN_PX, 0);
  const share = spare <= 0 ? 0 : Math.min(1, excessPx / spare);
  return widths.map((px) => Math.floor(px - (px - WIDTH_MIN_PX) * share));
}

/** Reads the stored widths of all lists. Drops values that are not a width. */
export function readWidths(stored: unknown): Readonly<Record<string, Widths>> {
  const read: Record<string, Widths> = {};
  for (const [list, columns] of entriesOf(stored)) {
    const widths = entriesOf(columns).flatMap(([column, px]) =>
      typeof px === 'number' && Number.isFinite(px) ? [[column, clampWidth(px)] as const] : [],
    );
    if (widths.length > 0) read[list] = Object.fromEntries(widths);
  }
  return read;
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
