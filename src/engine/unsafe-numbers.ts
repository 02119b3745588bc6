import type { Fault } from './conditions/faults.js';
import { compareDecimals } from './decimals.js';
import { NUMBER, SUSPECT } from './exact-json.js';

interface Level {
  readonly outer: Level | null;
  /** Within the enclosing level. */
  readonly name: string | number;
  readonly isList: boolean;
  /** The member that is being read. */
  member: string | number;
  /** Unsafe numbers by member. The later of two equal names replaces the earlier one. */
  lost: Map<string | number, Lost[]> | null;
}

interface Lost {
  level: Level;
  member: string | number;
  number: string;
}

/** Enough faults for one round of repairs. */
const LOST_MAX = 20;
const PATH_LENGTH_MAX = 500;
const SHOWN_LENGTH_MAX = 60;

/**
 * Numbers that JavaScript would change: ids beyond 2^53, too many digits, 1e400. Ignores the top-level members `kept`,
 * and members that a later one of the same name replaces. At most 20 faults. `text` must be accepted by `JSON.parse`.
 * It is scanned without recursion, because the caller controls the depth.
 */
export function unsafeNumbers(text: string, kept: ReadonlySet<string>): Fault[] {
  if (!SUSPECT.test(text)) return [];
  return new Scan(text, kept)
    .lost()
    .map(({ level, member, number }) => ({ path: pathTo(level, member), message: describeUnsafe(number) }));
}

/** `-0` and `1.0` count as equal to `0` and `1`. */
export function isUnsafe(number: string): boolean {
  const value = Number(number);
  // The exponent is cut off: it may have a million digits, and the comparison must not depend on them.
  if (value === 0) return /[1-9]/.test(number.split(/e/i, 1)[0] ?? '');
  return !Number.isFinite(value) || compareDecimals(String(value), number) !== 0;
}

class Scan {
  private at = 0;
  private level: Level | null = null;
  private isKept = false;
  private found: Lost[] = [];

  constructor(
    private readonly text: string,
    private readonly kept: ReadonlySet<string>,
  ) {}

  lost(): Lost[] {
    while (this.at < this.text.length) this.step(this.text[this.at] as string);
    return this.found;
  }

  private step(first: string): void {
    switch (first) {
      case '{':
        return this.open(false);
      case '[':
        return this.open(true);
      case '}':
      case ']':
        return this.close();
      case ',':
        this.at += 1;
        if (this.level?.isList === true) this.level.member = (this.level.member as number) + 1;
        return;
      case '"':
        return this.string();
      default:
        if (first === '-' || (first >= '0' && first <= '9')) this.number();
        else this.at += 1;
    }
  }

  private open(isList: boolean): void {
    this.at += 1;
    this.level = { outer: this.level, name: this.level?.member ?? '', isList, member: isList ? 0 : '', lost: null };
  }

  private close(): void {
    this.at += 1;
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

  private string(): void {
    const start = this.at;
    let end = this.text.indexOf('"', start + 1);
    while (this.isEscaped(end)) end = this.text.indexOf('"', end + 1);
    this.at = end + 1;
    const { level } = this;
    if (level === null || level.isList) return;
    let next = this.at;
    while (this.isSpace(next)) next += 1;
    if (this.text[next] !== ':') return;
    this.at = next + 1;
    level.member = JSON.parse(this.text.slice(start, end + 1)) as string;
    level.lost?.delete(level.member);
    if (level.outer === null) this.isKept = this.kept.has(level.member);
  }

  private number(): void {
    NUMBER.lastIndex = this.at;
    const [number = ''] = NUMBER.exec(this.text) ?? [];
    this.at += number.length;
    const { level } = this;
    if (level === null || this.isKept || !SUSPECT.test(number) || !isUnsafe(number)) return;
    const { member } = level;
    (level.lost ??= new Map()).set(member, [{ level, member, number }]);
  }

  private isEscaped(at: number): boolean {
    let first = at;
    while (this.text[first - 1] === '\\') first -= 1;
    return (at - first) % 2 === 1;
  }

  private isSpace(at: number): boolean {
    const code = this.text.charCodeAt(at);
    return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
  }
}

/** A long path is cut at the start. */
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
