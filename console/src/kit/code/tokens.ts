import { readJavaScript } from './javascript-tokens';
import { readJsonTokens } from './json-tokens';
import type { Token, TokenKind } from './token';

export type CodeLanguage = 'json' | 'javascript';

/**
 * A part of a line with one color. `mark` is set on brackets that belong to the pair at the caret or have no partner.
 */
export interface Piece {
  text: string;
  kind: TokenKind | 'plain';
  mark?: 'pair' | 'lone';
}

/** Longest text with colors. Reading a longer text at every key press would delay the typing. */
export const COLOURED_LENGTH_MAX = 200_000;
/** Maximum number of colored tokens in one line. Browsers are slow with very many elements in one line. */
const LINE_TOKENS_MAX = 500;

/** Returns the tokens in their order. Returns no tokens for a text that is too long, or that is not in the language. */
export function tokenize(text: string, language: CodeLanguage): Token[] {
  if (text.length > COLOURED_LENGTH_MAX) return [];
  return language === 'json' ? readJsonTokens(text) : readJavaScript(text);
}

/** Returns the start of each line. */
export function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Returns the pieces of the lines from `from` up to, but excluding, `to`. */
export function piecesOf(
  text: string,
  tokens: readonly Token[],
  { from, to, starts }: { from: number; to: number; starts: readonly number[] },
  marks: ReadonlyMap<number, 'pair' | 'lone'>,
): Piece[][] {
  let next = firstEndingAfter(tokens, starts[from] ?? text.length);
  return starts.slice(from, to).map((start, index) => {
    const following = starts[from + index + 1];
    const end = following === undefined ? text.length : following - 1;
    const pieces: Piece[] = [];
    let at = start;
    for (let token = tokens[next]; token !== undefined && token.start < end; token = tokens[next]) {
      if (pieces.length >= LINE_TOKENS_MAX) break;
      const [left, right] = [Math.max(token.start, start), Math.min(token.end, end)];
      if (left > at) pieces.push({ text: text.slice(at, left), kind: 'plain' });
      const mark = marks.get(token.start);
      if (right > left)
        pieces.push({ text: text.slice(left, right), kind: token.kind, ...(mark !== undefined && { mark }) });
      at = right;
      // A token that continues on the next line, such as a comment, is kept for that line.
      if (token.end > end) break;
      next += 1;
    }
    if (at < end) pieces.push({ text: text.slice(at, end), kind: 'plain' });
    while ((tokens[next]?.end ?? Infinity) <= end) next += 1;
    return pieces;
  });
}

/** Returns the index of the first token that ends after a position, by binary search. */
function firstEndingAfter(tokens: readonly Token[], position: number): number {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.end ?? Infinity) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
