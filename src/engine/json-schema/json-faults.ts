import type { Fault } from '#engine/conditions/faults.js';

export const JSON_BYTES_MAX = 64 * 1024;
export const JSON_DEPTH_MAX = 32;

/** Returns the faults of a JSON value that is larger than 64 KB or nested more than 32 levels deep. */
export function jsonFaults(value: unknown): Fault[] {
  // Checks the depth first, because a value that is too deep cannot be serialized to measure its size.
  if (isDeeperThan(value, JSON_DEPTH_MAX))
    return [{ path: '', message: `must be at most ${JSON_DEPTH_MAX} levels deep` }];
  const isTooLarge = Buffer.byteLength(JSON.stringify(value)) > JSON_BYTES_MAX;
  return isTooLarge ? [{ path: '', message: 'must have at most 64 KB as JSON' }] : [];
}

/** Returns whether the value is nested deeper than `levels`. Does not descend below this depth. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
