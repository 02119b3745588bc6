/** Pattern of U+0000 and unpaired surrogates. JSON allows them, but PostgreSQL's text and jsonb reject them. */
const UNSTORABLE = /[\0\p{Surrogate}]/gu;
const REPLACEMENT = '\ufffd';

/** Replaces every character that PostgreSQL rejects with U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll(UNSTORABLE, REPLACEMENT);
}

/**
 * Replaces the characters that PostgreSQL rejects, in all strings and field names of a JSON value. Operates on the
 * parsed value, because in serialized JSON `\u0000` may be an escape or, after another backslash, ordinary text.
 */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableJson);
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return storableJson((value.toJSON as () => unknown)());
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [storableText(name), storableJson(each)]));
}
