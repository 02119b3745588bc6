import { COMMA, JsonScanner, OPEN_OBJECT, STRING } from './json-scanner.js';

/** A range of UTF-16 units: `text.slice(start, end)`. */
export interface MemberRange {
  start: number;
  end: number;
}

/**
 * Returns the range of the value of a JSON object's top-level member, without surrounding white space. Returns null if
 * the text is not an object or has no such member. If a name is repeated, the last member wins, as in `JSON.parse`.
 *
 * Payloads are signed and delivered as this part of the received text, because serializing them again would change
 * numbers and spacing.
 *
 * `text` must be valid JSON. @throws SyntaxError when it ends inside a string, an array or an object.
 */
export function findMemberRange(text: string, name: string): MemberRange | null {
  const scanner = new JsonScanner(text);
  if (scanner.next() !== OPEN_OBJECT) return null;
  let memberRange: MemberRange | null = null;
  let token = scanner.next();
  while (token === STRING) {
    const isWanted = isKey(scanner, name);
    // Skips the colon.
    scanner.next();
    scanner.nextValue();
    if (isWanted) memberRange = { start: scanner.start, end: scanner.end };
    token = scanner.next();
    if (token === COMMA) token = scanner.next();
  }
  return memberRange;
}

const QUOTES = 2;

/** Returns whether the scanner's current string token equals `name`. */
function isKey(scanner: JsonScanner, name: string): boolean {
  // Compares the length first, which is cheap: an escape is never shorter than the character that it encodes.
  return scanner.end - scanner.start - QUOTES >= name.length && scanner.decode() === name;
}
