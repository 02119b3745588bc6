export interface ParameterSchema {
  type?: string | string[];
  default?: unknown;
  /** Schema of the items of a list. Values of an enumeration may also be separated by commas. */
  items?: { enum?: readonly unknown[] };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Converts query parameters to the types of their schema and sets defaults. The schema check then validates the result.
 */
export function typedQuery(
  query: Readonly<Record<string, unknown>>,
  schemas: Readonly<Record<string, ParameterSchema>>,
): Record<string, unknown> {
  const typed: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas)) {
    const given = query[name];
    const value = given === undefined ? schema.default : typedValue(given, schema);
    if (value !== undefined) typed[name] = value;
  }
  return typed;
}

function typedValue(given: unknown, { type, items }: ParameterSchema): unknown {
  const types = [type].flat();
  if (types.includes('array')) return listed(given, items?.enum !== undefined);
  if (typeof given !== 'string') return given;
  if ((types.includes('integer') || types.includes('number')) && NUMBER.test(given)) return Number(given);
  if (types.includes('boolean') && (given === 'true' || given === 'false')) return given === 'true';
  return given;
}

function listed(given: unknown, isOfWords: boolean): unknown[] {
  const all: unknown[] = [given].flat();
  return isOfWords ? all.flatMap((each) => (typeof each === 'string' ? each.split(',') : [each])) : all;
}
