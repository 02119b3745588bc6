import { lastAt } from '../text/text-rows';

/** The lines of formatted JSON, and the objects and arrays that span several of them. Lines are counted from 0. */
export interface JsonLines {
  count: number;
  /** Returns the start and end of a line, without its line break. */
  bounds: (line: number) => [from: number, to: number];
  /** Returns the line that contains an offset of the text. */
  lineAt: (offset: number) => number;
  /** The line of each closing bracket, by the line of its opening bracket. */
  folds: ReadonlyMap<number, number>;
}

/**
 * Splits JSON into lines. With `isFormatted`, also finds the objects and arrays. `formatJson` ends a line after each
 * opening bracket and begins one with each closing bracket, so this needs no parser.
 */
export function linesOfJson(text: string, isFormatted: boolean): JsonLines {
  const starts: number[] = [];
  const folds = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at <= text.length;) {
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found;
    const line = starts.push(at) - 1;
    if (isFormatted) {
      const first = text[firstInk(text, at)];
      const opened = first === '}' || first === ']' ? open.pop() : undefined;
      if (opened !== undefined) folds.set(opened, line);
      const last = text[end - 1];
      if (end > at && (last === '{' || last === '[')) open.push(line);
    }
    at = end + 1;
  }
  return {
    count: starts.length,
    bounds: (line) => [starts[line] ?? text.length, (starts[line + 1] ?? text.length + 1) - 1],
    lineAt: (offset) => lastAt(starts, offset),
    folds,
  };
}

function firstInk(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at;
}

/** Returns the lines that are visible while some objects and arrays are folded, given by their first lines. */
export function visibleLines(
  { count, folds }: Pick<JsonLines, 'count' | 'folds'>,
  folded: ReadonlySet<number>,
): number[] {
  const visible: number[] = [];
  for (let line = 0; line < count; line += 1) {
    visible.push(line);
    if (folded.has(line)) line = folds.get(line) ?? line;
  }
  return visible;
}

/** Returns the folded lines without the folds that hide `line`. Returns the set unchanged if no fold hides `line`. */
export function unfoldedAt(
  { folds }: Pick<JsonLines, 'folds'>,
  folded: ReadonlySet<number>,
  line: number,
): ReadonlySet<number> {
  const hiding = [...folded].filter((from) => from < line && line <= (folds.get(from) ?? from));
  return hiding.length === 0 ? folded : new Set([...folded].filter((from) => !hiding.includes(from)));
}

/** Returns the first line of the innermost object or array that contains `line`, or null. */
export function parentOf({ folds }: Pick<JsonLines, 'folds'>, line: number): number | null {
  let parent: number | null = null;
  for (const [from, to] of folds) if (from < line && line <= to && (parent === null || from > parent)) parent = from;
  return parent;
}
