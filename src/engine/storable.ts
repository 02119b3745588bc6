/** U+0000, and halves of surrogate pairs: JavaScript and JSON have them, PostgreSQL's text and jsonb refuse them. */
const UNSTORABLE = /[\0\p{Surrogate}]/gu;
const REPLACEMENT = '\ufffd';

/** Returns the text as PostgreSQL stores it: every character that it refuses is U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll(UNSTORABLE, REPLACEMENT);
}

/**
 * Returns a value as PostgreSQL's jsonb stores it, in texts and in the names of fields. It works on the value: in serialized JSON
 * the six characters `\u0000` may be an escape or, behind another backslash, text.
 */
export function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storableJson);
  if (typeof value !== 'object' || value === null) return value;
  if ('toJSON' in value && typeof value.toJSON === 'function') return storableJson((value.toJSON as () => unknown)());
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [storableText(name), storableJson(each)]));
}
