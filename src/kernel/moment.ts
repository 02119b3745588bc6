import { badRequest, invalid } from './errors.js';

/** Milliseconds since the epoch. Null for leap seconds, which JavaScript dates cannot hold (RFC 3339 can). */
function shownMs(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** `path` is the time's path in the body. Throws 422 for a leap second. */
export function momentMs(text: string, path: string): number {
  const ms = shownMs(text);
  if (ms === null) throw invalid([{ path, message: 'must be a time without a leap second' }]);
  return ms;
}

/** For list queries. Throws 400 for a leap second. */
export function queriedMs(text: string, name: string): number {
  const ms = shownMs(text);
  if (ms === null) throw badRequest(`${name} must be a time without a leap second.`);
  return ms;
}
