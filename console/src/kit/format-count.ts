import { preferences } from './preferences';

/** Returns a count, with a plus sign if it is capped: `10,000+`. */
export function formatCount({ count, is_capped: isCapped }: { count: number; is_capped: boolean }): string {
  return `${new Intl.NumberFormat(preferences().language).format(count)}${isCapped ? '+' : ''}`;
}
