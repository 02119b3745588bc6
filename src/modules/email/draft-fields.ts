export interface FieldNames {
  known: ReadonlySet<string>;
  aliases: Readonly<Record<string, string>>;
  /** Unsupported fields of other email services. Ignoring them would change the message, so they are rejected. */
  refused: ReadonlySet<string>;
}

/**
 * Returns the fields under Posthorn's names. Ignores unknown fields. Reports errors for refused and duplicate fields.
 */
export function named(
  given: Record<string, unknown>,
  names: FieldNames,
  fault: (name: string, message: string) => void,
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    // Null is treated as absent, because some clients serialize every field.
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
