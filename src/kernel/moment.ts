import { badRequest, invalid } from './errors.js';

/**
 * Returns the milliseconds since the epoch of a time that passed the schema. Null for leap seconds, which RFC 3339
 * allows but JavaScript dates cannot hold.
 */
function shownMs(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** Parses a time of a request body. `path` is its path in the body. Throws 422 for a leap second. */
export function momentMs(text: string, path: string): number {
  const ms = shownMs(text);
  if (ms === null) throw invalid([{ path, message: 'must be a time without a leap second' }]);
  return ms;
}

/** Parses a time of a list query. Throws 400 for a leap second. */
export function queriedMs(text: string, name: string): number {
  const ms = shownMs(text);
  if (ms === null) throw badRequest(`${name} must be a time without a leap second.`);
  return ms;
}
