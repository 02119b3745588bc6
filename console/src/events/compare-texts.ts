import { diffLines } from 'diff';

/**
 * A line of a comparison: unchanged, added or removed. Consecutive unchanged lines far from any change become one line
 * with a count.
 */
export interface ComparedLine {
  sign: ' ' | '+' | '-' | '…';
  text: string;
  /** Number of lines for which this line stands. */
  count: number;
}

/** Maximum duration of a comparison. Very different texts would take much longer. */
const TIME_MS_MAX = 4_000;
const CONTEXT_LINES = 3;

/**
 * Returns the lines of both texts, marked as unchanged, added or removed. Works in slices, so that the page stays
 * responsive. Returns null if the time limit is exceeded.
 */
export async function compareTexts(before: string, after: string): Promise<ComparedLine[] | null> {
  const parts = await new Promise<{ value: string; added: boolean; removed: boolean }[] | undefined>((resolve) => {
    diffLines(before, after, { timeout: TIME_MS_MAX, callback: resolve });
  });
  if (parts === undefined) return null;
  return parts.flatMap(({ value, added, removed }, index): ComparedLine[] => {
    const lines = value.replace(/\n$/, '').split('\n');
    if (added || removed) return lines.map((text) => ({ sign: added ? '+' : '-', text, count: 1 }));
    const from = index === 0 ? 0 : CONTEXT_LINES;
    const to = lines.length - (index === parts.length - 1 ? 0 : CONTEXT_LINES);
    const asLine = (text: string): ComparedLine => ({ sign: ' ', text, count: 1 });
    if (to - from <= 2) return lines.map(asLine);
    return [
      ...lines.slice(0, from).map(asLine),
      { sign: '…', text: '', count: to - from },
      ...lines.slice(to).map(asLine),
    ];
  });
}
