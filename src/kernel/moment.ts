import { badRequest, invalid } from './errors.js';

/** Milliseconds since the epoch of a time that passed the schema; null for one that no clock here shows: RFC 3339 has leap seconds. */
function shownMs(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** Of a body, at this path of it. Throws 422 for a leap second. */
export function momentMs(text: string, path: string): number {
  const ms = shownMs(text);
  if (ms === null) throw invalid([{ path, message: 'must be a time without a leap second' }]);
  return ms;
}

/** Of a list's query. Throws 400 for a leap second. */
export function queriedMs(text: string, name: string): number {
  const ms = shownMs(text);
  if (ms === null) throw badRequest(`${name} must be a time without a leap second.`);
  return ms;
}
