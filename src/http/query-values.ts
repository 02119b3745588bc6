/** The part of a parameter's schema that decides how its text is read. */
export interface ParameterSchema {
  type?: string | string[];
  default?: unknown;
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
    const value = given === undefined ? schema.default : typedValue(given, [schema.type].flat());
    if (value !== undefined) typed[name] = value;
  }
  return typed;
}

function typedValue(given: unknown, types: readonly (string | undefined)[]): unknown {
  if (types.includes('array')) return Array.isArray(given) ? given : [given];
  if (typeof given !== 'string') return given;
  if ((types.includes('integer') || types.includes('number')) && NUMBER.test(given)) return Number(given);
  if (types.includes('boolean') && (given === 'true' || given === 'false')) return given === 'true';
  return given;
}
