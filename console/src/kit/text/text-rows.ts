/** A text cut into rows that fit: a line of a megabyte is thousands of them, and only those in sight are drawn. */
export interface TextRows {
  count: number;
  /** Where a row begins and ends, without its line end. */
  bounds: (row: number) => [from: number, to: number];
  /** The number of the line, from 1, that a row begins; null for a row in the midst of one. */
  lineOf: (row: number) => number | null;
  /** The row that holds a place of the text. */
  rowAt: (place: number) => number;
}

/** Cuts at line ends, and after so many characters; never between the two halves of one. */
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

/** The last of ascending numbers that is not above one. */
function lastAt(numbers: readonly number[], value: number): number {
  let low = 0;
  for (let high = numbers.length - 1; low < high;) {
    const middle = Math.ceil((low + high) / 2);
    if ((numbers[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** As many are looked for; more are as good as many. */
export const MATCHES_MAX = 1_000;

/** Where a text occurs in another, whatever the case of letters. */
export function findAll(text: string, wanted: string): number[] {
  if (wanted === '') return [];
  const found: number[] = [];
  for (const { index } of text.matchAll(new RegExp(wanted.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu'))) {
    found.push(index);
    if (found.length >= MATCHES_MAX) break;
  }
  return found;
}

/** A piece of a row, and whether it is what was looked for. */
export interface Piece {
  text: string;
  /** Which match it belongs to; null for what lies between. */
  match: number | null;
}

/** The pieces of a part of a text, between matches of a length at ascending places. */
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
