import { parse, type ParseError } from 'jsonc-parser';

/** What is wrong with JSON, and in which line where that is known. */
export interface JsonFault {
  line: number | null;
  message: string;
  /** A number that would be stored as another one. */
  number?: string;
}

/** JSON that somebody types: what it says, or what is wrong in which line. */
export type ReadJson = { value: unknown; fault: null } | { value: null; fault: JsonFault };

/** Reads JSON; nothing but blanks is null. */
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
    // Browsers say what is wrong, each in its own words, and seldom where.
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

/** An object, or nothing: what filters, rules and schemas are. */
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

/** The first number of a JSON text that would be stored as another one, and nothing else that may be wrong with it. */
export function findLostNumber(text: string): JsonFault | null {
  const { fault } = readJson(text);
  return fault?.number === undefined ? null : fault;
}

/** Numbers of settings are stored as doubles: one that none holds would be another one without a word. */
function lostNumber(text: string): JsonFault | null {
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g)) {
    if (token.startsWith('"') || digitsOf(token) === digitsOf(String(Number(token)))) continue;
    return { line: text.slice(0, index).split('\n').length, message: token, number: token };
  }
  return null;
}

/** The digits of a number and the power of ten that they are multiplied by, however it is written. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + part).replace(/^0+/, '');
  const kept = all.replace(/0+$/, '');
  return kept === '' ? '0' : `${sign}${kept}e${Number(power) - part.length + all.length - kept.length}`;
}

/** As it is shown to be changed; nothing for null. */
export function writeJson(value: unknown): string {
  return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
}
