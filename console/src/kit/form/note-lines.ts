/** Returns metadata as editable lines: `name: value`. */
export function toNoteLines(notes: Readonly<Record<string, string>>): string {
  return Object.entries(notes)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/**
 * Parses lines of the form `name: value`. Returns the metadata, or the number of the first invalid line. A value may
 * contain colons, but a name may not.
 */
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

/**
 * Returns whether all metadata can be edited as lines. Only the API can change entries that have line breaks, or a
 * colon in the name.
 */
export function fitsLines(notes: Readonly<Record<string, string>>): boolean {
  const read = fromNoteLines(toNoteLines(notes));
  const names = Object.keys(notes);
  return (
    typeof read === 'object' &&
    names.length === Object.keys(read).length &&
    names.every((name) => read[name] === notes[name])
  );
}
