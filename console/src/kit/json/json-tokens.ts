import { createScanner } from 'jsonc-parser';
import type { Piece } from '../text/text-rows';
import type { JsonLines } from './json-lines';

export type JsonTokenKind = 'key' | 'string' | 'number' | 'keyword';

/** A colored part of JSON text, as offsets. Brackets, commas and colons have no color. */
export interface JsonToken {
  from: number;
  to: number;
  kind: JsonTokenKind;
}

/** Longest line that is colored. Scanning a longer one delays scrolling. */
export const COLORED_LINE_MAX = 200_000;
const CACHED_LINES_MAX = 2_000;

// Numbers of jsonc-parser's token kinds. jsonc-parser declares them as a const enum, which a compiler of single files
// cannot read.
const COLON = 6;
const END = 17;
const KINDS: Readonly<Record<number, JsonTokenKind>> = {
  7: 'keyword',
  8: 'keyword',
  9: 'keyword',
  10: 'string',
  11: 'number',
};

/** Returns the colored tokens of a part of JSON text. The part must not begin or end inside a token. */
export function tokensOf(text: string, from: number, to: number): JsonToken[] {
  const scanner = createScanner(text.slice(from, to), true);
  const tokens: JsonToken[] = [];
  let before: JsonToken | undefined;
  for (let kind: number = scanner.scan(); kind !== END; kind = scanner.scan()) {
    if (kind === COLON && before?.kind === 'string') before.kind = 'key';
    const colored = KINDS[kind];
    before = undefined;
    if (colored === undefined) continue;
    const start = from + scanner.getTokenOffset();
    before = { from: start, to: start + scanner.getTokenLength(), kind: colored };
    tokens.push(before);
  }
  return tokens;
}

/** Returns a function that returns the tokens of a line. Scans a line when it is first asked for. */
export function lineTokens(
  text: string,
  { bounds }: Pick<JsonLines, 'bounds'>,
): (line: number) => readonly JsonToken[] {
  const cached = new Map<number, readonly JsonToken[]>();
  return (line) => {
    const known = cached.get(line);
    if (known !== undefined) return known;
    const [from, to] = bounds(line);
    const tokens = to - from > COLORED_LINE_MAX ? [] : tokensOf(text, from, to);
    if (cached.size >= CACHED_LINES_MAX) cached.clear();
    cached.set(line, tokens);
    return tokens;
  };
}

/** A part of a row with one color. It lies either within a match of the search or between two matches. */
export interface ColoredPiece extends Piece {
  kind: JsonTokenKind | null;
}

/**
 * Splits pieces of text at the borders of JSON tokens, so that each token gets its color. `start` is the offset of the
 * first piece in the document.
 */
export function colorPieces(pieces: readonly Piece[], start: number, tokens: readonly JsonToken[]): ColoredPiece[] {
  const colored: ColoredPiece[] = [];
  let at = start;
  let index = firstEndingAfter(tokens, start);
  for (const { text, match } of pieces) {
    const end = at + text.length;
    const from = at;
    while (at < end) {
      while ((tokens[index]?.to ?? Infinity) <= at) index += 1;
      const token = tokens[index];
      const isInside = token !== undefined && token.from <= at;
      const next = Math.min(end, token === undefined ? end : isInside ? token.to : token.from);
      colored.push({ text: text.slice(at - from, next - from), match, kind: isInside ? token.kind : null });
      at = next;
    }
  }
  return colored;
}

function firstEndingAfter(tokens: readonly JsonToken[], offset: number): number {
  let low = 0;
  for (let high = tokens.length; low < high;) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.to ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
