import { isObject } from '#engine/conditions/faults.js';
import { DEFINITIONS, SCHEMA, SCHEMA_LIST, SCHEMA_MAP } from '#engine/json-schema/keywords.js';
import type { Fault } from '#kernel/errors.js';

type Json = Record<string, unknown>;

/** How many values all schemas of one import may have together: each webhook gets its own copy of what it refers to. */
const VALUES_MAX = 400_000;
const VALUES_OF_ONE_MAX = 20_000;
const DEPTH_MAX = 64;
const CHAIN_MAX = 20;
const REFERENCE_LENGTH_MAX = 1_000;
const CHARACTERS_A_VALUE = 64;
const TOO_LARGE = 'is too large with all that it refers to';

/** Reads one OpenAPI document: follows its references, and makes schemas that stand alone. */
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

  /** Whether the webhooks together have used up what one import may have; a fault says so already. */
  get isSpent(): boolean {
    return this.valuesLeft === 0;
  }

  fault(path: readonly string[], message: string): void {
    this.faults.push({ path: this.pathTo(path), message });
  }

  pathTo(path: readonly string[]): string {
    return [this.root, ...path].join('.').slice(0, 400);
  }

  /** The object at a place, or what it refers to; null, with a fault where it is a reference to nothing. */
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

  /** The schema at a place with everything that it refers to, in JSON Schema 2020-12. Null with a fault. */
  schema(value: unknown, path: readonly string[]): Json | null {
    const root = this.object(value, path);
    if (root === null) return null;
    const bundle = new Bundle(this, this.is30, Math.min(VALUES_OF_ONE_MAX, this.valuesLeft));
    const schema = bundle.converted(root, path, 0) as Json;
    const definitions = bundle.definitions();
    this.valuesLeft = Math.max(0, this.valuesLeft - bundle.valuesUsed);
    if (bundle.isTooLarge)
      this.fault(path, this.isSpent ? `has more than is left of the ${VALUES_MAX} values for all webhooks` : TOO_LARGE);
    return definitions === null ? schema : { ...schema, $defs: definitions };
  }

  /** The value at a place when it is an object of a size that may be kept. */
  example(value: unknown, path: readonly string[]): Json | null {
    if (!isObject(value)) return null;
    const weight = weightUpTo(value, VALUES_OF_ONE_MAX);
    this.valuesLeft = Math.max(0, this.valuesLeft - weight);
    if (weight <= VALUES_OF_ONE_MAX && this.valuesLeft > 0) return value;
    this.fault(path, 'has an example that is too large');
    return null;
  }

  /** What a local reference leads to. */
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

/** One schema with the parts of the document that it refers to, each once and under a name of its own. */
class Bundle {
  isTooLarge = false;
  private readonly names = new Map<string, string>();
  private readonly taken = new Set<string>();
  /** The number that the last namesake got: searching from 2 again is quadratic where all have one name. */
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

  /** A copy of a schema in the dialect of 2020-12 whose references lead to `$defs`. */
  converted(value: unknown, path: readonly string[], depth: number): unknown {
    this.spend(1);
    if (depth > DEPTH_MAX) this.isTooLarge = true;
    if (this.isTooLarge) return null;
    if (!isObject(value)) return this.counted(value);
    const { $ref: reference, ...rest } = value;
    if (typeof reference !== 'string') return this.members(value, path, depth);
    const own = { $ref: this.named(reference, path) };
    // Beside a reference, 3.0 ignores everything.
    return this.is30 ? own : { ...own, ...this.members(rest, path, depth) };
  }

  /** Null when nothing is referred to. Referred-to parts may refer to more. */
  definitions(): Json | null {
    const definitions: [string, unknown][] = [];
    // The list grows while it is gone through.
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

  /** The entries of a list or a map, converted, up to where it is too large. */
  private all(entries: object, each: (inner: unknown, name: string) => unknown): [string, unknown][] {
    const copy: [string, unknown][] = [];
    for (const [name, inner] of Object.entries(entries)) {
      if (this.isTooLarge) break;
      copy.push([name, each(inner, name)]);
    }
    return copy;
  }

  /** What is no schema stays as it is. */
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

/** About how many values there are in one, but no more than `max`: YAML's aliases can make much of little. */
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

/** What a schema of OpenAPI 3.0 says in its own way. */
function from30({ nullable, example, ...schema }: Json): Json {
  if (example !== undefined) schema['examples'] ??= [example];
  exclusive(schema, 'minimum', 'exclusiveMinimum');
  exclusive(schema, 'maximum', 'exclusiveMaximum');
  return nullable === true ? orNull(schema) : schema;
}

/** `{minimum: 0, exclusiveMinimum: true}` as `{exclusiveMinimum: 0}`. */
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
    : `leads out of this document, where nothing is read: ${text}`;
}
