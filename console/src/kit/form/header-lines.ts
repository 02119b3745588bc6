/** Returns headers as editable lines: `name: value`. */
export function toLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** Parses lines of the form `name: value`. Returns the headers, or the number of the first invalid line. */
export function fromLines(text: string): Record<string, string> | number {
  const found: Record<string, string> = {};
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return i + 1;
    found[name] = value;
  }
  return found;
}
