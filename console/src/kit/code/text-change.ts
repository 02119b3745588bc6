/** Part of a text, as offsets. */
export interface TextRange {
  from: number;
  to: number;
}

/** Replacement of a part of a text. */
export interface TextChange extends TextRange {
  insert: string;
}

/** Returns the text with `\n` as its only line break, as a text area does. */
export function withLineFeeds(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

/** Returns the smallest replacement that turns one text into the other, so that the caret and folds outside stay. */
export function changeBetween(before: string, after: string): TextChange {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}
