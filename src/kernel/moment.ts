import { badRequest, invalid } from './errors.js';

/** Returns milliseconds since the epoch. Null for leap seconds, which RFC 3339 allows but JavaScript lacks. */
function shownMs(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** Returns milliseconds since the epoch. Throws 422, with `path` in the body, for a leap second. */
export function momentMs(text: string, path: string): number {
  const ms = shownMs(text);
  if (ms === null) throw invalid([{ path, message: 'must be a time without a leap second' }]);
  return ms;
}

/** Returns the time in a query parameter, in milliseconds since the epoch. Throws 400 for a leap second. */
export function queriedMs(text: string, name: string): number {
  const ms = shownMs(text);
  if (ms === null) throw badRequest(`${name} must be a time without a leap second.`);
  return ms;
}
