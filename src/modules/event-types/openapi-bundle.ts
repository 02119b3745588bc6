import { isObject } from '#engine/conditions/faults.js';
import { DEFINITIONS, SCHEMA, SCHEMA_LIST, SCHEMA_MAP } from '#engine/json-schema/keywords.js';
import type { Fault } from '#kernel/errors.js';

type Json = Record<string, unknown>;

/**
 * Maximum number of values in all schemas of an import. The schemas can be larger than the document, because each
 * webhook has its own copy of the parts that it references.
 */
const VALUES_MAX = 400_000;
const VALUES_OF_ONE_MAX = 20_000;
const DEPTH_MAX = 64;
const CHAIN_MAX = 20;
const REFERENCE_LENGTH_MAX = 1_000;
const CHARACTERS_A_VALUE = 64;
const TOO_LARGE = 'is too large with all its references';

export class OpenApiReader {
  readonly faults: Fault[] = [];
  private readonly is30: boolean;
  private valuesLeft = VALUES_MAX;

  constructor(
    readonly document: Json,
    private readonly root: string,
  ) {
    this.is30 = String(document['openapi']).startsWith('3.0');
  }

  /** True if the webhooks together have reached `VALUES_MAX`. The error for this limit is already in `faults`. */
  get isSpent(): boolean {
    return this.valuesLeft === 0;
  }

  fault(path: readonly string[], message: string): void {
    this.faults.push({ path: this.pathTo(path), message });
  }

  pathTo(path: readonly string[]): string {
    return [this.root, ...path].join('.').slice(0, 400);
  }

  /** Returns an object, following references. Returns null and adds an error if a reference has no target. */
  object(value: unknown, path: readonly string[]): Json | null {
    let found = value;
    for (let hops = 0; isObject(found) && typeof found['$ref'] === 'string'; hops += 1) {
      const target = hops < CHAIN_MAX ? this.at(found['$ref']) : undefined;
      if (target === undefined) {
        this.fault([...path, '$ref'], refersToNothing(found['$ref']));
        return null;
      }
      found = target;
    }
    return isObject(found) ? found : null;
  }

  /**
   * Returns the schema with all parts that it references, in JSON Schema 2020-12. Adds errors to `faults`. Returns null
   * if the value is not an object.
   */
  schema(value: unknown, path: readonly string[]): Json | null {
    const root = this.object(value, path);
    if (root === null) return null;
    const bundle = new Bundle(this, this.is30, Math.min(VALUES_OF_ONE_MAX, this.valuesLeft));
    const schema = bundle.converted(root, path, 0) as Json;
    const definitions = bundle.definitions();
    this.valuesLeft = Math.max(0, this.valuesLeft - bundle.valuesUsed);
    if (bundle.isTooLarge)
      this.fault(
        path,
        this.isSpent ? `exceeds the remaining part of the limit of ${VALUES_MAX} values for all webhooks` : TOO_LARGE,
      );
    return definitions === null ? schema : { ...schema, $defs: definitions };
  }

  /** Returns the example, or null if the value is not an object within the size limit. */
  example(value: unknown, path: readonly string[]): Json | null {
    if (!isObject(value)) return null;
    const weight = weightUpTo(value, VALUES_OF_ONE_MAX);
    this.valuesLeft = Math.max(0, this.valuesLeft - weight);
    if (weight <= VALUES_OF_ONE_MAX && this.valuesLeft > 0) return value;
    this.fault(path, 'has an example that is too large');
    return null;
  }

  at(reference: string): unknown {
    if (!reference.startsWith('#/') || reference.length > REFERENCE_LENGTH_MAX) return undefined;
    let value: unknown = this.document;
    for (const part of reference.slice(2).split('/')) {
      const name = decoded(part);
      if (typeof value !== 'object' || value === null || name === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as Json)[name];
    }
    return value;
  }
}

/** One schema with the parts of the document that it references, each stored once under a unique name. */
class Bundle {
  isTooLarge = false;
  private readonly names = new Map<string, string>();
  private readonly taken = new Set<string>();
  /**
   * Last number appended to each name to make it unique. Without it, finding free numbers would take quadratic time.
   */
  private readonly lastNumbers = new Map<string, number>();
  private readonly waiting: string[] = [];
  private valuesLeft: number;

  constructor(
    private readonly reader: OpenApiReader,
    private readonly is30: boolean,
    private readonly valuesMax: number,
  ) {
    this.valuesLeft = valuesMax;
  }

  get valuesUsed(): number {
    return this.valuesMax - this.valuesLeft;
  }

  /** Converts a schema to the 2020-12 dialect, with references into `$defs`. */
  converted(value: unknown, path: readonly string[], depth: number): unknown {
    this.spend(1);
    if (depth > DEPTH_MAX) this.isTooLarge = true;
    if (this.isTooLarge) return null;
    if (!isObject(value)) return this.counted(value);
    const { $ref: reference, ...rest } = value;
    if (typeof reference !== 'string') return this.members(value, path, depth);
    const own = { $ref: this.named(reference, path) };
    // In OpenAPI 3.0, all fields next to a `$ref` are ignored.
    return this.is30 ? own : { ...own, ...this.members(rest, path, depth) };
  }

  /** Returns all referenced parts, including parts referenced by other parts. Returns null if there are none. */
  definitions(): Json | null {
    const definitions: [string, unknown][] = [];
    // The loop also visits the parts that its body appends to `waiting`.
    for (const next of this.waiting) {
      if (this.isTooLarge) break;
      const name = this.names.get(next) as string;
      definitions.push([name, this.converted(this.reader.at(next), next.slice(2).split('/'), 0)]);
    }
    return definitions.length === 0 ? null : Object.fromEntries(definitions);
  }

  private members(schema: Json, path: readonly string[], depth: number): Json {
    const copy: [string, unknown][] = [];
    for (const [keyword, each] of Object.entries(schema)) {
      this.spend(1);
      if (this.isTooLarge) return {};
      copy.push([keyword, this.keyword(keyword, each, [...path, keyword], depth + 1)]);
    }
    return this.is30 ? from30(Object.fromEntries(copy)) : Object.fromEntries(copy);
  }

  private keyword(keyword: string, value: unknown, path: readonly string[], depth: number): unknown {
    const each = (inner: unknown, name: string): unknown => this.converted(inner, [...path, name], depth);
    if (Array.isArray(value) && (SCHEMA_LIST.has(keyword) || SCHEMA.has(keyword)))
      return this.all(value, each).map(([, inner]) => inner);
    if (SCHEMA.has(keyword)) return this.converted(value, path, depth);
    if (!isObject(value) || !(SCHEMA_MAP.has(keyword) || DEFINITIONS.has(keyword))) return this.counted(value);
    return Object.fromEntries(this.all(value, each));
  }

  private all(entries: object, each: (inner: unknown, name: string) => unknown): [string, unknown][] {
    const copy: [string, unknown][] = [];
    for (const [name, inner] of Object.entries(entries)) {
      if (this.isTooLarge) break;
      copy.push([name, each(inner, name)]);
    }
    return copy;
  }

  /** Counts a value that is not a schema toward the size limit. Returns the value unchanged. */
  private counted(value: unknown): unknown {
    this.spend(weightUpTo(value, this.valuesLeft + 1));
    return this.isTooLarge ? null : value;
  }

  private spend(values: number): void {
    this.valuesLeft -= values;
    if (this.valuesLeft < 0) this.isTooLarge = true;
  }

  private named(reference: string, path: readonly string[]): string {
    this.spend(1 + Math.floor(reference.length / CHARACTERS_A_VALUE));
    const known = this.names.get(reference);
    if (known !== undefined) return `#/$defs/${known}`;
    if (this.reader.at(reference) === undefined) {
      this.reader.fault([...path, '$ref'], refersToNothing(reference));
      return '#';
    }
    const name = this.freeName(reference);
    this.names.set(reference, name);
    this.waiting.push(reference);
    return `#/$defs/${name}`;
  }

  private freeName(reference: string): string {
    const last =
      (decoded(reference.slice(reference.lastIndexOf('/') + 1)) ?? '').replace(/[^A-Za-z0-9_.-]/g, '_') || 'schema';
    let name = last;
    let number = this.lastNumbers.get(last) ?? 1;
    while (this.taken.has(name)) {
      number += 1;
      name = `${last}${number}`;
    }
    this.lastNumbers.set(last, number);
    this.taken.add(name);
    return name;
  }
}

/** Returns the approximate size of a value, at most `max`. YAML aliases can expand a small text into a large value. */
export function weightUpTo(value: unknown, max: number): number {
  if (typeof value === 'string') return 1 + Math.floor(value.length / CHARACTERS_A_VALUE);
  if (typeof value !== 'object' || value === null) return 1;
  let weight = 1;
  for (const inner of Object.values(value)) {
    if (weight > max) return weight;
    weight += weightUpTo(inner, max - weight);
  }
  return weight;
}

function from30({ nullable, example, ...schema }: Json): Json {
  if (example !== undefined) schema['examples'] ??= [example];
  exclusive(schema, 'minimum', 'exclusiveMinimum');
  exclusive(schema, 'maximum', 'exclusiveMaximum');
  return nullable === true ? orNull(schema) : schema;
}

/** Converts `{minimum: 0, exclusiveMinimum: true}` to `{exclusiveMinimum: 0}`. */
function exclusive(schema: Json, bound: string, exclusiveBound: string): void {
  if (typeof schema[exclusiveBound] !== 'boolean') return;
  if (schema[exclusiveBound] && typeof schema[bound] === 'number') {
    schema[exclusiveBound] = schema[bound];
    delete schema[bound];
  } else {
    delete schema[exclusiveBound];
  }
}

function orNull(schema: Json): Json {
  if (typeof schema['type'] !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const alternatives = Array.isArray(schema['enum'])
    ? { enum: [...new Set([...(schema['enum'] as unknown[]), null])] }
    : {};
  return { ...schema, type: [schema['type'], 'null'], ...alternatives };
}

function decoded(part: string): string | null {
  if (!/[%~]/.test(part)) return part;
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return null;
  }
}

function refersToNothing(reference: unknown): string {
  const text = String(reference).slice(0, 200);
  return text.startsWith('#/')
    ? `leads to nothing: ${text}`
    : `leads out of this document, which is not supported: ${text}`;
}
