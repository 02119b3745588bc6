import { parse, type ParseError } from 'jsonc-parser';

/** An error in JSON, with its line if known. */
export interface JsonFault {
  line: number | null;
  message: string;
  /** Number that cannot be stored exactly. */
  number?: string;
}

/** Result of parsing JSON: its value, or the error. */
export type ReadJson = { value: unknown; fault: null } | { value: null; fault: JsonFault };

/** Parses JSON. Returns null for blank text. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { value: null, fault: null };
  try {
    const value = JSON.parse(text) as unknown;
    const fault = lostNumber(text);
    return fault === null ? { value, fault: null } : { value: null, fault };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const faults: ParseError[] = [];
    parse(text, faults, { disallowComments: true, allowTrailingComma: false });
    // Determines the line itself, because browsers rarely report the position of an error.
    const line = faults[0] === undefined ? null : text.slice(0, faults[0].offset).split('\n').length;
    return {
      value: null,
      fault: {
        line,
        message: said.replace(
          /,? (?:\.\.\.)?"[^]*"(?:\.\.\.)? is not valid JSON$| in JSON at position.*$| \(line \d+ column \d+\)$|^JSON\.parse: /g,
          '',
        ),
      },
    };
  }
}

/** Parses a JSON object, such as a filter, a rule or a schema. Also accepts blank text. */
export function readObject(
  text: string,
  complaint: string,
): { value: Record<string, unknown> | null; fault: JsonFault | null } {
  const read = readJson(text);
  if (read.fault !== null) return read;
  if (read.value === null) return { value: null, fault: null };
  if (typeof read.value !== 'object' || Array.isArray(read.value))
    return { value: null, fault: { line: 1, message: complaint } };
  return { value: read.value as Record<string, unknown>, fault: null };
}

/** Returns the first number in the JSON text that cannot be stored exactly. Ignores all other errors. */
export function findLostNumber(text: string): JsonFault | null {
  const { fault } = readJson(text);
  return fault?.number === undefined ? null : fault;
}

/** Returns the first number that a double cannot represent, because stored settings use doubles. */
function lostNumber(text: string): JsonFault | null {
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (token.startsWith('"') || digitsOf(token) === digitsOf(String(Number(token)))) continue;
    return { line: text.slice(0, index).split('\n').length, message: token, number: token };
  }
  return null;
}

/** Returns the digits of a number and its power of ten, which are the same for all notations of the number. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + part).replace(/^0+/, '');
  const kept = all.replace(/0+$/, '');
  return kept === '' ? '0' : `${sign}${kept}e${Number(power) - part.length + all.length - kept.length}`;
}

/** Returns a value as editable JSON. Empty for null. */
export function writeJson(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
}
