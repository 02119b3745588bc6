/** Returns the text that Enter inserts at the caret: a line break and the indentation of the new line. */
export function newLineAt(text: string, caret: number): string {
  const before = text.slice(text.lastIndexOf('\n', caret - 1) + 1, caret);
  const indentation = /^[ \t]*/.exec(before)?.[0] ?? '';
  return `\n${indentation}${/[{[(]\s*$/.test(before) ? '  ' : ''}`;
}
