/** The part of a parameter's schema that decides how its text is read. */
export interface ParameterSchema {
  type?: string | string[];
  default?: unknown;
  /** Of a list: words of an enumeration may also be parted by commas. */
  items?: { enum?: readonly unknown[] };
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Gives query parameters the types of their schema; what cannot be read keeps its text, which the schema then refuses.
 * Parameters without a schema are left out, absent ones with a default get it.
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

/** A parameter that is given several times, or once. */
function listed(given: unknown, isOfWords: boolean): unknown[] {
  const all: unknown[] = [given].flat();
  return isOfWords ? all.flatMap((each) => (typeof each === 'string' ? each.split(',') : [each])) : all;
}
