import { preferences } from '../kit/preferences';

/** A count that ends somewhere: `10,000+`. */
export function tellCount({ count, is_capped: isCapped }: { count: number; is_capped: boolean }): string {
  return `${new Intl.NumberFormat(preferences().language).format(count)}${isCapped ? '+' : ''}`;
}
