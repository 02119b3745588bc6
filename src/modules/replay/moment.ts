import { invalid } from '#kernel/errors.js';

/** Milliseconds since the epoch of a time that passed the schema. Throws 422 for one that no clock here shows: RFC 3339 has leap seconds. */
export function momentMs(text: string, path: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw invalid([{ path, message: 'must be a time without a leap second' }]);
  return ms;
}
