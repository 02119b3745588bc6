import { type KeyboardEvent, useEffect, useState } from 'react';
import type { Found } from '../text/TextView';
import { type JsonLines, parentOf, unfoldedAt, visibleLines } from './json-lines';

/** State of the foldable objects and arrays of a JSON text. */
export interface Folds {
  folded: ReadonlySet<number>;
  /** Line whose fold button is in the tab order. The arrow keys reach the fold buttons of all other lines. */
  active: number;
  toggle: (line: number) => void;
  foldAll: () => void;
  unfoldAll: () => void;
  press: (event: KeyboardEvent, line: number) => void;
}

/**
 * Keeps the folded lines of a text. A search opens the objects and arrays that hide its current match. `reveal` scrolls
 * to a line and focuses its button.
 */
export function useFolds(text: string, lines: JsonLines, found: Found, reveal: (line: number) => void): Folds {
  const [state, setState] = useState<{ of: string; folded: ReadonlySet<number>; active: number | null }>({
    of: text,
    folded: new Set(),
    active: null,
  });
  const { folded, active } = state.of === text ? state : { folded: NONE, active: null };
  const set = (next: ReadonlySet<number>, at: number | null = active): void =>
    setState({ of: text, folded: next, active: at });
  const match = found.matches[found.current];
  useEffect(() => {
    if (match === undefined) return;
    const next = unfoldedAt(lines, folded, lines.lineAt(match));
    if (next !== folded) set(next);
    // Runs only for a new match, so that the user can fold the object of the current match again.
  }, [match, lines]);
  const foldable = (): number[] => visibleLines(lines, folded).filter((line) => lines.folds.has(line));
  const toggle = (line: number): void => {
    const next = new Set(folded);
    if (!next.delete(line)) next.add(line);
    set(next, line);
  };
  const go = (line: number | null | undefined): void => {
    if (line === null || line === undefined) return;
    set(folded, line);
    reveal(line);
  };
  const press = (event: KeyboardEvent, line: number): void => {
    const all = foldable();
    const at = all.indexOf(line);
    if (event.key === 'ArrowDown') go(all[at + 1]);
    else if (event.key === 'ArrowUp') go(all[at - 1]);
    else if (event.key === 'Home') go(all[0]);
    else if (event.key === 'End') go(all.at(-1));
    else if (event.key === 'ArrowRight' && folded.has(line)) toggle(line);
    else if (event.key === 'ArrowLeft' && !folded.has(line)) toggle(line);
    else if (event.key === 'ArrowLeft') go(parentOf(lines, line));
    else return;
    event.preventDefault();
  };
  return {
    folded,
    // The default is the first line. It can be folded if any line can, because it begins the outermost object or array.
    active: active ?? 0,
    toggle,
    foldAll: () => set(new Set([...lines.folds.keys()].filter((line) => line !== 0)), null),
    unfoldAll: () => set(NONE, null),
    press,
  };
}

const NONE: ReadonlySet<number> = new Set();
