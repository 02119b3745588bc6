import { diffLines } from 'diff';

/** A line of a comparison: of both, of this one alone, or of the other. A run of equal lines far from any change is one that counts them. */
export interface ComparedLine {
  sign: ' ' | '+' | '-' | '…';
  text: string;
  /** How many lines it stands for. */
  count: number;
}

/** Longer than this nobody waits; two texts that have nothing in common take forever. */
const TIME_MS_MAX = 4_000;
const CONTEXT_LINES = 3;

/** Line by line what was added to `before` and what is gone, in slices between which the page answers. Null when they differ too much to say in time. */
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
