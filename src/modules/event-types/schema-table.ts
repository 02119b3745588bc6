import { isObject } from '#engine/conditions/faults.js';

type Json = Record<string, unknown>;

/** One field of a payload, as the catalogue shows it. */
export interface FieldRow {
  /** `customer.address.city`, `lines[].amount`. */
  path: string;
  type: string;
  required: boolean;
  description: string | null;
}

const ROWS_MAX = 200;
const DEPTH_MAX = 6;
const CHAIN_MAX = 20;
const TYPE_LENGTH_MAX = 200;

/** The fields of a schema of objects, with those of the objects in them. Schemas that are made of others show what those share. */
export function fieldsOf(schema: Json): FieldRow[] {
  const rows: FieldRow[] = [];
  addFields(rows, schema, schema, '', 0);
  return rows;
}

function addFields(rows: FieldRow[], root: Json, value: unknown, prefix: string, depth: number): void {
  if (depth > DEPTH_MAX) return;
  const schema = resolved(root, value);
  if (schema === null) return;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  for (const [name, field] of Object.entries(isObject(schema['properties']) ? schema['properties'] : {})) {
    if (rows.length >= ROWS_MAX) return;
    const own = resolved(root, field) ?? {};
    const description = [isObject(field) ? field['description'] : null, own['description']].find((each) => typeof each === 'string');
    rows.push({ path: prefix + name, type: typeOf(own), required: required.includes(name), description: description ?? null });
    addFields(rows, root, own, `${prefix}${name}.`, depth + 1);
    if (own['items'] !== undefined) addFields(rows, root, own['items'], `${prefix}${name}[].`, depth + 1);
  }
  for (const part of Array.isArray(schema['allOf']) ? schema['allOf'] : []) addFields(rows, root, part, prefix, depth + 1);
}

function resolved(root: Json, value: unknown): Json | null {
  let found = value;
  for (let hops = 0; isObject(found) && typeof found['$ref'] === 'string' && hops < CHAIN_MAX; hops += 1) {
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
  const values = Array.isArray(schema['enum']) ? `one of ${schema['enum'].slice(0, 20).map((each) => JSON.stringify(each)).join(', ')}` : '';
  const text = [types.join(' or ') + format, values].filter((part) => part !== '').join(', ');
  if (text === '' && (schema['anyOf'] ?? schema['oneOf'])) return 'one of several';
  return (text || 'any').slice(0, TYPE_LENGTH_MAX);
}
