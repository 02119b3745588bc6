import type { Fault } from './conditions/faults.js';
import { compareDecimals } from './decimals.js';
import { SUSPECT } from './exact-json.js';
import { CLOSE_ARRAY, CLOSE_OBJECT, COMMA, END, JsonScanner, NUMBER, OPEN_ARRAY, OPEN_OBJECT } from './json-scanner.js';

interface Level {
  readonly outer: Level | null;
  /** Member name in the enclosing object, or index in the enclosing list. */
  readonly name: string | number;
  readonly isList: boolean;
  /** The member that is being read. */
  member: string | number;
  /** Unsafe numbers by member. If a name occurs twice, the later member replaces the earlier one. */
  lost: Map<string | number, Lost[]> | null;
}

interface Lost {
  level: Level;
  member: string | number;
  number: string;
}

/** Maximum number of reported faults. */
const LOST_MAX = 20;
const PATH_LENGTH_MAX = 500;
const SHOWN_LENGTH_MAX = 60;

/**
 * Returns at most 20 numbers that JavaScript would change: ids beyond 2^53, too many digits, 1e400. Ignores the
 * top-level members named in `kept`, and members that a later one of the same name replaces.
 *
 * `text` must be valid JSON. It is scanned without recursion, because the caller controls the depth.
 */
export function unsafeNumbers(text: string, kept: ReadonlySet<string>): Fault[] {
  if (!SUSPECT.test(text)) return [];
  return new Scan(text, kept)
    .lost()
    .map(({ level, member, number }) => ({ path: pathTo(level, member), message: describeUnsafe(number) }));
}

/** Returns whether JavaScript would change the number. Treats `-0` and `1.0` as equal to `0` and `1`. */
export function isUnsafe(number: string): boolean {
  const value = Number(number);
  // JavaScript reads the number as 0. It is unsafe if a digit before the exponent is not 0, as in 1e-400. Does not
  // parse the exponent, which may have a million digits.
  if (value === 0) return /[1-9]/.test(number.split(/e/i, 1)[0] ?? '');
  return !Number.isFinite(value) || compareDecimals(String(value), number) !== 0;
}

/** Reads the tokens of a JSON text once and collects the unsafe numbers. */
class Scan {
  private readonly scanner: JsonScanner;
  private level: Level | null = null;
  private found: Lost[] = [];

  constructor(
    text: string,
    private readonly kept: ReadonlySet<string>,
  ) {
    this.scanner = new JsonScanner(text);
  }

  lost(): Lost[] {
    for (let token = this.scanner.next(); token !== END; token = this.scanner.next()) this.read(token);
    return this.found;
  }

  private read(token: number): void {
    switch (token) {
      case OPEN_OBJECT:
        this.open(false);
        if (this.scanner.next() === CLOSE_OBJECT) this.close();
        else this.startMember();
        return;
      case OPEN_ARRAY:
        return this.open(true);
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        return this.close();
      case COMMA:
        return this.moveToNextMember(this.level as Level);
      case NUMBER:
        return this.checkNumber();
    }
  }

  private open(isList: boolean): void {
    this.level = { outer: this.level, name: this.level?.member ?? '', isList, member: isList ? 0 : '', lost: null };
  }

  private close(): void {
    const { outer, lost } = this.level as Level;
    this.level = outer;
    if (lost === null) return;
    const all: Lost[] = [];
    for (const some of lost.values()) {
      if (all.length >= LOST_MAX) break;
      all.push(...some.slice(0, LOST_MAX - all.length));
    }
    if (all.length === 0) return;
    if (outer === null) this.found = all;
    else (outer.lost ??= new Map()).set(outer.member, all);
  }

  private moveToNextMember(level: Level): void {
    if (level.isList) {
      level.member = (level.member as number) + 1;
    } else {
      this.scanner.next();
      this.startMember();
    }
  }

  /** Starts the member whose name is the current token. Skips the value if `kept` contains the top-level name. */
  private startMember(): void {
    const level = this.level as Level;
    level.member = this.scanner.decode();
    level.lost?.delete(level.member);
    if (level.outer !== null || !this.kept.has(level.member)) return;
    // Skips the colon.
    this.scanner.next();
    this.scanner.nextValue();
  }

  private checkNumber(): void {
    const { level } = this;
    if (level === null) return;
    const number = this.scanner.spelling;
    if (!SUSPECT.test(number) || !isUnsafe(number)) return;
    const { member } = level;
    (level.lost ??= new Map()).set(member, [{ level, member, number }]);
  }
}

/** Returns the dotted path to a member. Cuts off the start of a path that is too long. */
function pathTo(last: Level, member: string | number): string {
  let path = String(member);
  for (let level = last; level.outer !== null && path.length < PATH_LENGTH_MAX; level = level.outer)
    path = `${level.name}.${path}`;
  return path.slice(-PATH_LENGTH_MAX);
}

export function describeUnsafe(number: string): string {
  const shown = number.length > SHOWN_LENGTH_MAX ? `${number.slice(0, SHOWN_LENGTH_MAX)}…` : number;
  const value = Number(number);
  if (!Number.isFinite(value)) return `${shown} is larger than any number that is stored: write it as a string`;
  return `${shown} would be stored as ${value}: write it as a string, or with fewer digits`;
}
