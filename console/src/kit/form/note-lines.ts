/** Notes as lines that people write: `name: value`. */
export function toNoteLines(notes: Readonly<Record<string, string>>): string {
  return Object.entries(notes)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** The notes of such lines, or the number of the first one that is none. A name has no colon, a value may have. */
export function fromNoteLines(text: string): Record<string, string> | number {
  const found: [string, string][] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, value] = /^([^:]+):(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined || name.trim() === '') return i + 1;
    found.push([name.trim(), value.trim()]);
  }
  return Object.fromEntries(found);
}

/** Whether all of them can be written as lines: what has a line end, or a colon in its name, is changed by the API alone. */
export function fitsLines(notes: Readonly<Record<string, string>>): boolean {
  const read = fromNoteLines(toNoteLines(notes));
  const names = Object.keys(notes);
  return (
    typeof read === 'object' &&
    names.length === Object.keys(read).length &&
    names.every((name) => read[name] === notes[name])
  );
}
