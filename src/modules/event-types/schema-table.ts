import { isObject } from '#engine/conditions/faults.js';

type Json = Record<string, unknown>;

export interface FieldRow {
  /** Path of the field, for example `customer.address.city` or `lines[].amount`. */
  path: string;
  type: string;
  required: boolean;
  description: string | null;
}

const ROWS_MAX = 200;
const DEPTH_MAX = 6;
const CHAIN_MAX = 20;
/** Maximum number of schemas visited for one table. A typical table of 200 rows needs about 500 visits. */
const VISITS_MAX = 1_000;
const REFERENCE_LENGTH_MAX = 1_000;
const TYPE_LENGTH_MAX = 200;

/** Returns the fields of a schema and of its nested objects. `allOf` adds the fields of all its parts. */
export function fieldsOf(schema: Json): FieldRow[] {
  const table = new Table(schema);
  table.add(schema, '', 0, new Set());
  return table.rows;
}

class Table {
  readonly rows: FieldRow[] = [];
  private visitsLeft = VISITS_MAX;

  constructor(private readonly root: Json) {}

  /**
   * Adds the fields of a schema. `seen` contains the schemas that were already added to this object, because references
   * can form a cycle.
   */
  add(value: unknown, prefix: string, depth: number, seen: Set<Json>): void {
    this.visitsLeft -= 1;
    if (depth > DEPTH_MAX || this.visitsLeft < 0) return;
    const schema = resolved(this.root, value);
    if (schema === null || seen.has(schema)) return;
    seen.add(schema);
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    for (const [name, field] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
      if (this.rows.length >= ROWS_MAX) return;
      const own = resolved(this.root, field) ?? {};
      const description = [isObject(field) ? field['description'] : null, own['description']].find(
        (each) => typeof each === 'string',
      );
      this.rows.push({
        path: prefix + name,
        type: typeOf(own),
        required: required.includes(name),
        description: description ?? null,
      });
      this.add(own, `${prefix}${name}.`, depth + 1, new Set());
      if (own['items'] !== undefined) this.add(own['items'], `${prefix}${name}[].`, depth + 1, new Set());
    }
    for (const part of Array.isArray(schema['allOf']) ? schema['allOf'] : []) {
      if (this.visitsLeft <= 0 || this.rows.length >= ROWS_MAX) return;
      this.add(part, prefix, depth + 1, seen);
    }
  }
}

function resolved(root: Json, value: unknown): Json | null {
  let found = value;
  for (let hops = 0; isObject(found) && typeof found['$ref'] === 'string' && hops < CHAIN_MAX; hops += 1) {
    if (found['$ref'].length > REFERENCE_LENGTH_MAX) return null;
    const [, section, name, ...more] = found['$ref'].split('/');
    const definitions = section === undefined ? null : root[section];
    if (name === undefined || more.length > 0 || !isObject(definitions)) return null;
    found = definitions[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return isObject(found) ? found : null;
}

function typeOf(schema: Json): string {
  const types = [schema['type'] ?? []].flat().map(String);
  const format = typeof schema['format'] === 'string' ? ` (${schema['format']})` : '';
  const values = Array.isArray(schema['enum'])
    ? `one of ${schema['enum']
        .slice(0, 20)
        .map((each) => JSON.stringify(each))
        .join(', ')}`
    : '';
  const text = [types.join(' or ') + format, values].filter((part) => part !== '').join(', ');
  if (text === '' && (schema['anyOf'] ?? schema['oneOf'])) return 'one of several';
  return (text || 'any').slice(0, TYPE_LENGTH_MAX);
}
