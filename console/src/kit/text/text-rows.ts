/** A text split into rows that fit the width, so that only the visible rows need to be rendered. */
export interface TextRows {
  count: number;
  /** Returns the start and end of a row, without its line break. */
  bounds: (row: number) => [from: number, to: number];
  /** Returns the number of the line that begins with this row, counted from 1. Null if the row continues a line. */
  lineOf: (row: number) => number | null;
  /** Returns the index of the row that contains an offset of the text. */
  rowAt: (place: number) => number;
}

/** Splits a text at line breaks and after `columns` characters, but never within a surrogate pair. */
export function rowsOfText(text: string, columns: number): TextRows {
  const starts: number[] = [];
  const lines: number[] = [];
  for (let at = 0; at <= text.length;) {
    const found = text.indexOf('\n', at);
    const end = found === -1 ? text.length : found;
    lines.push(starts.length);
    starts.push(at);
    for (let cut = cutAfter(text, at, columns); cut < end; cut = cutAfter(text, cut, columns)) starts.push(cut);
    at = end + 1;
  }
  const lineStarts = new Set(lines);
  return {
    count: starts.length,
    bounds: (row) => {
      const from = starts[row] ?? text.length;
      const next = starts[row + 1] ?? text.length + 1;
      return [from, row + 1 < starts.length && !lineStarts.has(row + 1) ? next : next - 1];
    },
    lineOf: (row) => (lineStarts.has(row) ? lastAt(lines, row) + 1 : null),
    rowAt: (place) => lastAt(starts, place),
  };
}

function cutAfter(text: string, at: number, columns: number): number {
  const cut = at + columns;
  const code = text.charCodeAt(cut);
  return code >= 0xdc00 && code <= 0xdfff ? cut + 1 : cut;
}

/** Returns the index of the last number that is at most `value`. The numbers must be in ascending order. */
export function lastAt(numbers: readonly number[], value: number): number {
  let low = 0;
  for (let high = numbers.length - 1; low < high;) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Maximum number of matches that a search returns. */
export const MATCHES_MAX = 1_000;

/** Returns the positions of `wanted` in `text`, ignoring case. */
export function findAll(text: string, wanted: string): number[] {
  if (wanted === '') return [];
  const found: number[] = [];
  for (const { index } of text.matchAll(new RegExp(wanted.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu'))) {
    found.push(index);
    if (found.length >= MATCHES_MAX) break;
  }
  return found;
}

/** A part of a row: a match of the search, or text between matches. */
export interface Piece {
  text: string;
  /** Index of the match. Null for text between matches. */
  match: number | null;
}

/** Splits a part of a text at the matches. All matches must have the same length, and be in ascending order. */
export function piecesOf(
  text: string,
  [from, to]: readonly [number, number],
  matches: readonly number[],
  length: number,
): Piece[] {
  const pieces: Piece[] = [];
  let at = from;
  let match = matches.length === 0 ? 0 : lastAt(matches, from);
  for (; match < matches.length; match += 1) {
    const start = Math.max(matches[match] ?? 0, at);
    const end = Math.min((matches[match] ?? 0) + length, to);
    if (start >= to) break;
    if (end <= start) continue;
    if (start > at) pieces.push({ text: text.slice(at, start), match: null });
    pieces.push({ text: text.slice(start, end), match });
    at = end;
  }
  if (at < to || pieces.length === 0) pieces.push({ text: text.slice(at, to), match: null });
  return pieces;
}
