/** Headers as lines that people write: `name: value`. */
export function toLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

/** The headers of such lines, or the number of the first one that is none. */
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
