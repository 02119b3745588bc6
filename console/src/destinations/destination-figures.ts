import type { Range } from '../kit/plot/range';

/** Time windows of the figures, by range. */
export const FIGURES = {
  '1h': { window: '1m', windowMs: 60_000, windows: 60 },
  '24h': { window: '1h', windowMs: 3_600_000, windows: 24 },
  '7d': { window: '1h', windowMs: 3_600_000, windows: 168 },
  '30d': { window: '1d', windowMs: 86_400_000, windows: 30 },
} as const satisfies Record<Range, unknown>;

/** Returns the start of a range. A range consists of time windows of equal length. `nowMs` is in the last window. */
export function figuresSince(range: Range, nowMs: number): string {
  const { windowMs, windows } = FIGURES[range];
  return new Date(Math.floor(nowMs / windowMs) * windowMs - (windows - 1) * windowMs).toISOString();
}

/** Filters of the destination list, as in the page's URL. */
export interface DestinationFilters {
  search?: string;
  status?: 'active' | 'disabled';
  circuit?: 'closed' | 'open' | 'half_open';
}

export const STATES = ['active', 'disabled'] as const;
export const CIRCUITS = ['open', 'half_open', 'closed'] as const;

/** Reads the filters from the query parameters of the page's URL. Ignores invalid values. */
export function readDestinationFilters(search: Readonly<Record<string, unknown>>): DestinationFilters {
  const name = search['search'];
  const status = STATES.find((each) => each === search['status']);
  const circuit = CIRCUITS.find((each) => each === search['circuit']);
  return {
    ...((typeof name === 'string' || typeof name === 'number') &&
      String(name).trim() !== '' && { search: String(name).trim() }),
    ...(status && { status }),
    ...(circuit && { circuit }),
  };
}
