/** Units of the body limit, with their numbers of bytes. */
export const SIZE_UNITS = { MB: 1_048_576, KB: 1_024, bytes: 1 } as const;
export type SizeUnit = keyof typeof SIZE_UNITS;

/** Largest body limit that the API accepts. */
export const BODY_BYTES_MAX = 25 * SIZE_UNITS.MB;

/** Returns a size in the largest unit in which it is a whole number. */
export function sizeOf(bytes: number): { amount: string; unit: SizeUnit } {
  const unit = (Object.keys(SIZE_UNITS) as SizeUnit[]).find((each) => bytes % SIZE_UNITS[each] === 0) ?? 'bytes';
  return { amount: String(bytes / SIZE_UNITS[unit]), unit };
}

/** Returns a typed size in bytes. Returns null, the default of the API, for an empty amount. */
export function bytesOfSize(amount: string, unit: SizeUnit): number | null {
  return amount.trim() === '' ? null : Math.round(Number(amount) * SIZE_UNITS[unit]);
}
