/** The ranges that lists offer. */
export const RANGES = ['-15m', '-1h', '-6h', '-1d', '-7d', '-30d'] as const;

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const RELATIVE = /^-(\d{1,4})([mhd])$/;

/** Whether a value of an address is a time, or how long back: `-1h` stays relative in a link that is kept. */
export function isRangeTime(value: unknown): value is string {
  return typeof value === 'string' && (RELATIVE.test(value) || !Number.isNaN(Date.parse(value)));
}

/** Such a value as a time, seen from a moment. */
export function rangeTime(text: string, nowMs: number): string {
  const [, count, unit = ''] = RELATIVE.exec(text) ?? [];
  return new Date(count === undefined ? text : nowMs - Number(count) * (UNIT_MS[unit] ?? 0)).toISOString();
}
