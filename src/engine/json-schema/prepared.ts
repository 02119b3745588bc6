import { type Fault, Faults, isObject } from '#engine/conditions/faults.js';
import { FORMATS } from './formats.js';
import { DEFINITIONS, PLAIN, REFUSED, SCHEMA, SCHEMA_LIST, SCHEMA_MAP } from './keywords.js';
import { Patterns } from './pattern.js';

/** Keyword that is added to every subschema. Its value `[own, scans]` is passed to `Budget.step`. */
export const STEP = 'posthorn:step';

type Schema = Record<string, unknown>;

export interface Prepared {
  schema: Schema;
  patterns: Patterns;
}

/** Maximum number of subschemas. Ajv compiles them into one function, and V8 needs 0.3 ms for each subschema. */
const SUBSCHEMAS_MAX = 500;
const CHECKS_A_UNIT = 8;
/**
 * Keywords whose validation costs more: an extra function call, or the creation of an error for each alternative that
 * fails.
 */
const COSTLY = new Set(['$ref', 'anyOf', 'contains', 'not', 'oneOf']);
const CHECKS_OF_COSTLY = 24;
const COMPARING = new Set(['const', 'dependentRequired', 'enum']);

/**
 * Returns the schema for Ajv: only the keywords that restrict values, and the cost of each subschema. Every target of a
 * `$ref` becomes an entry of `$defs` in the root. Unused definitions are left out. Expects a schema that passed
 * `shapeFaults`.
 */
export function prepare(schema: Schema): Prepared | { faults: Fault[] } {
  const walk = new Walk();
  const root = walk.prepare(schema, []) as Schema;
  const definitions = walk.definitions();
  if (walk.faults.list.length > 0) return { faults: walk.faults.list };
  return { schema: definitions === null ? root : { ...root, $defs: definitions }, patterns: walk.patterns };
}

class Walk {
  readonly faults = new Faults();
  readonly patterns = new Patterns();
  private readonly places = new Map<string, unknown>();
  private subschemas = 0;
  /**
   * Schemas that a `$ref` refers to, by JSON pointer. `name`: the new name in `$defs`. `askedAt`: the path of the first
   * `$ref` to it.
   */
  private readonly targets = new Map<string, { name: string; askedAt: string }>();

  prepare(schema: unknown, path: readonly string[]): unknown {
    if (!isObject(schema) || Object.keys(schema).length === 0) {
      // `{}` and `true` accept every value at no cost.
      const prepared = isObject(schema) ? true : schema;
      this.places.set(pointerOf(path), prepared);
      return path.length === 0 ? {} : prepared;
    }
    this.subschemas += 1;
    if (this.subschemas === SUBSCHEMAS_MAX + 1) this.faults.add('', `must have at most ${SUBSCHEMAS_MAX} subschemas`);
    if (this.subschemas > SUBSCHEMAS_MAX || this.faults.isFull) return true;
    const prepared: [string, unknown][] = [];
    // Registers the schema before its content, because the content may refer to the schema.
    const place: Schema = {};
    this.places.set(pointerOf(path), place);
    for (const [keyword, value] of Object.entries(schema)) {
      const kept = this.keyword(keyword, value, [...path, keyword]);
      if (kept !== undefined) prepared.push([keyword, kept]);
    }
    return Object.assign(place, { [STEP]: priceOf(prepared) }, Object.fromEntries(prepared));
  }

  /** Returns the referenced schemas by their new names in `$defs`, or null if there are none. */
  definitions(): Schema | null {
    const found = [...this.targets].map(([pointer, { name, askedAt }]): [string, unknown] => {
      if (!this.places.has(pointer))
        this.faults.add(askedAt, 'leads to nothing: it must name a schema of this document, such as #/$defs/name');
      return [name, this.places.get(pointer)];
    });
    return found.length > 0 ? Object.fromEntries(found) : null;
  }

  /** Returns the value of a keyword in the schema that Ajv compiles. Undefined if the keyword restricts nothing. */
  private keyword(keyword: string, value: unknown, path: string[]): unknown {
    const at = path.join('.').slice(0, 400);
    if (SCHEMA.has(keyword)) return this.prepare(value, path);
    if (SCHEMA_LIST.has(keyword))
      return (value as unknown[]).map((each, i) => this.prepare(each, [...path, String(i)]));
    if (SCHEMA_MAP.has(keyword)) return this.schemas(keyword, value as Schema, path);
    if (DEFINITIONS.has(keyword)) void this.schemas(keyword, value as Schema, path);
    if (keyword === '$ref') return this.refer(value as string, at);
    if (keyword === '$id' && path.length > 1) this.faults.add(at, 'is not supported inside of a schema: use $defs');
    if (REFUSED.has(keyword)) this.faults.add(at, 'is not supported: use $defs and "$ref": "#/$defs/name"');
    if (keyword === 'format') return Object.hasOwn(FORMATS, value as string) ? value : undefined;
    if (keyword === 'pattern') this.checkPattern(value as string, at);
    return PLAIN.has(keyword) ? value : undefined;
  }

  private schemas(keyword: string, value: Schema, path: string[]): Schema {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        if (keyword === 'patternProperties') this.checkPattern(name, [...path, name].join('.').slice(0, 400));
        return [name, this.prepare(each, [...path, name])];
      }),
    );
  }

  private checkPattern(pattern: string, at: string): void {
    const fault = this.faults.isFull ? null : this.patterns.add(pattern);
    if (fault !== null) this.faults.add(at, fault);
  }

  private refer(reference: string, at: string): string | undefined {
    const path = pathOfReference(reference);
    if (path === null) {
      this.faults.add(at, 'must begin with #: a schema cannot refer to another document');
      return undefined;
    }
    const pointer = pointerOf(path);
    if (path.length === 0) return '#';
    const target = this.targets.get(pointer) ?? { name: `d${this.targets.size}`, askedAt: at };
    this.targets.set(pointer, target);
    return `#/$defs/${target.name}`;
  }
}

/** Parses a reference: `#/$defs/a~1b` becomes `['$defs', 'a/b']`. Returns null if it points to another document. */
function pathOfReference(reference: string): string[] | null {
  if (reference === '#') return [];
  if (!reference.startsWith('#/')) return null;
  try {
    return reference
      .slice(2)
      .split('/')
      .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return null;
  }
}

const pointerOf = (path: readonly string[]): string =>
  path.map((part) => `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

function priceOf(keywords: readonly [string, unknown][]): [own: number, scans: number] {
  let [checks, scans] = [0, 1];
  for (const [keyword, value] of keywords) {
    const entries = typeof value === 'object' && value !== null ? Object.keys(value).length : 1;
    checks += COSTLY.has(keyword) ? entries * CHECKS_OF_COSTLY : entries;
    if (COMPARING.has(keyword)) checks += sizeOf(value);
    // These keywords may read the whole value several times: once for each alternative (`enum`, `anyOf`) or for each
    // pattern.
    const isScanOfEach = keyword === 'enum' || keyword === 'patternProperties' || SCHEMA_LIST.has(keyword);
    scans += isScanOfEach ? entries : 1;
  }
  return [1 + Math.ceil(checks / CHECKS_A_UNIT), scans];
}

function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((size, inner) => size + sizeOf(inner), 1);
}
