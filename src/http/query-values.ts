/** The part of a parameter's schema that decides how its text is read. */
export interface ParameterSchema {
  type?: string | string[];
  default?: unknown;
  /** A word, or a list of words: given several times, or once with commas. */
  oneOf?: readonly ParameterSchema[];
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

function typedValue(given: unknown, { type, oneOf }: ParameterSchema): unknown {
  if (oneOf) return oneOf.some((each) => each.type === 'array') ? words(given) : given;
  const types = [type].flat();
  if (types.includes('array')) return Array.isArray(given) ? given : [given];
  if (typeof given !== 'string') return given;
  if ((types.includes('integer') || types.includes('number')) && NUMBER.test(given)) return Number(given);
  if (types.includes('boolean') && (given === 'true' || given === 'false')) return given === 'true';
  return given;
}

/** Words that are parted by commas, or stand in parameters of the same name, are a list; one word is itself. */
function words(given: unknown): unknown {
  const all: unknown[] = [given].flat().flatMap((each) => (typeof each === 'string' ? each.split(',') : [each]));
  return all.length === 1 ? all[0] : all;
}
