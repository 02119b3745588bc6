import type { Fault } from '#kernel/errors.js';

const ENTRIES_MAX = 50;
const KEY_LENGTH_MAX = 40;
const VALUE_LENGTH_MAX = 500;

export function metadataFaults(metadata: Record<string, string>): Fault[] {
  const entries = Object.entries(metadata);
  if (entries.length > ENTRIES_MAX) return [{ path: 'metadata', message: `has at most ${ENTRIES_MAX} keys` }];
  return entries.flatMap(([key, value]) => {
    if (key.length === 0 || key.length > KEY_LENGTH_MAX)
      return [{ path: 'metadata', message: `has keys of 1 to ${KEY_LENGTH_MAX} characters` }];
    return value.length > VALUE_LENGTH_MAX
      ? [{ path: `metadata.${key}`, message: `has at most ${VALUE_LENGTH_MAX} characters` }]
      : [];
  });
}
