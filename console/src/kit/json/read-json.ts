/** JSON that somebody types: what it says, or what is wrong in which line. */
export type ReadJson = { value: unknown; fault: null } | { value: null; fault: { line: number | null; message: string } };

/** Reads JSON; nothing but blanks is null. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { value: null, fault: null };
  try {
    return { value: JSON.parse(text) as unknown, fault: null };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { value: null, fault: { line: lineOf(said, text), message: said.replace(/ in JSON at position.*$| \(line \d+ column \d+\)$|^JSON\.parse: /g, '') } };
  }
}

/** An object, or nothing: what filters, rules and schemas are. */
export function readObject(text: string, complaint: string): { value: Record<string, unknown> | null; fault: { line: number | null; message: string } | null } {
  const read = readJson(text);
  if (read.fault !== null) return read;
  if (read.value === null) return { value: null, fault: null };
  if (typeof read.value !== 'object' || Array.isArray(read.value)) return { value: null, fault: { line: 1, message: complaint } };
  return { value: read.value as Record<string, unknown>, fault: null };
}

/** Browsers say where in words of their own; one that stops at the end says nothing. */
function lineOf(said: string, text: string): number | null {
  const line = /line (\d+)/.exec(said)?.[1];
  if (line !== undefined) return Number(line);
  const position = /position (\d+)/.exec(said)?.[1];
  if (position !== undefined) return text.slice(0, Number(position)).split('\n').length;
  return /end of/i.test(said) ? text.trimEnd().split('\n').length : null;
}

/** As it is shown to be changed; nothing for null. */
export function writeJson(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
}
