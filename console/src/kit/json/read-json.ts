import { parse, type ParseError } from 'jsonc-parser';

/** JSON that somebody types: what it says, or what is wrong in which line. */
export type ReadJson = { value: unknown; fault: null } | { value: null; fault: { line: number | null; message: string } };

/** Reads JSON; nothing but blanks is null. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { value: null, fault: null };
  try {
    return { value: JSON.parse(text) as unknown, fault: null };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const faults: ParseError[] = [];
    parse(text, faults, { disallowComments: true, allowTrailingComma: false });
    // Browsers say what is wrong, each in its own words, and seldom where.
    const line = faults[0] === undefined ? null : text.slice(0, faults[0].offset).split('\n').length;
    return { value: null, fault: { line, message: said.replace(/,? (?:\.\.\.)?"[^]*"(?:\.\.\.)? is not valid JSON$| in JSON at position.*$| \(line \d+ column \d+\)$|^JSON\.parse: /g, '') } };
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

/** As it is shown to be changed; nothing for null. */
export function writeJson(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
}
