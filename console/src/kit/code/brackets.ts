import type { Token } from './token';

const PARTNERS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Brackets of a text, by their positions. */
export interface Brackets {
  /** Position of each bracket's partner. */
  partners: ReadonlyMap<number, number>;
  /** Positions of brackets without a partner. */
  lone: readonly number[];
}

/** Pairs the brackets of a text. Brackets in strings and comments are no tokens and are ignored. */
export function pairBrackets(text: string, tokens: readonly Token[]): Brackets {
  const partners = new Map<number, number>();
  const lone: number[] = [];
  const open: number[] = [];
  for (const { kind, start } of tokens) {
    if (kind !== 'bracket') continue;
    const opening = PARTNERS[text[start] ?? ''];
    if (opening === undefined) open.push(start);
    else if (open.length > 0 && text[open.at(-1) ?? 0] === opening) {
      const partner = open.pop() ?? 0;
      partners.set(start, partner).set(partner, start);
    } else lone.push(start);
  }
  return { partners, lone: [...lone, ...open] };
}

/** Returns the marks of the brackets: those without a partner, and the pair at the caret. */
export function bracketMarks({ partners, lone }: Brackets, caret: number | null): ReadonlyMap<number, 'pair' | 'lone'> {
  const marks = new Map<number, 'pair' | 'lone'>(lone.map((position) => [position, 'lone']));
  if (caret === null) return marks;
  const at = [caret - 1, caret].find((position) => partners.has(position));
  const partner = at === undefined ? undefined : partners.get(at);
  if (at !== undefined && partner !== undefined) marks.set(at, 'pair').set(partner, 'pair');
  return marks;
}
