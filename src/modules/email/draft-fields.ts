/** What the fields of an object are called, and under which other names they are taken. */
export interface FieldNames {
  known: ReadonlySet<string>;
  aliases: Readonly<Record<string, string>>;
  /** Of other services, and not here: without them something else would be sent, or to somebody else. */
  refused: ReadonlySet<string>;
}

/** The fields under their own names. Those of other services' clients that say nothing of the message are passed over; what is refused, or comes under both names, is a fault. */
export function named(
  given: Record<string, unknown>,
  names: FieldNames,
  fault: (name: string, message: string) => void,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    // What is null was not given: clients that serialise every field say so.
    if (value === null || value === undefined) continue;
    const own = names.aliases[name] ?? name;
    if (names.refused.has(name)) fault(name, 'is not known here');
    else if (!names.known.has(own)) continue;
    else if (Object.hasOwn(fields, own)) fault(name, `is given twice: as ${name} and under its other name`);
    else fields[own] = value;
  }
  return fields;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
