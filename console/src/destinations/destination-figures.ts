/** What the plots of a destination show, as its address says it. */
export interface FiguresSearch {
  range?: FiguresRange;
}

export const FIGURES = {
  '1h': { window: '1m', windowMs: 60_000, windows: 60 },
  '24h': { window: '1h', windowMs: 3_600_000, windows: 24 },
  '7d': { window: '1h', windowMs: 3_600_000, windows: 168 },
  '30d': { window: '1d', windowMs: 86_400_000, windows: 30 },
} as const;
export type FiguresRange = keyof typeof FIGURES;
export const FIGURES_RANGES = Object.keys(FIGURES) as FiguresRange[];

/** The range of an address; what is none is left out. */
export function readFigures(search: Readonly<Record<string, unknown>>): FiguresSearch {
  const range = FIGURES_RANGES.find((each) => each === search['range']);
  return range === undefined ? {} : { range };
}

/** When the first window of a range begins: the last one is that which runs now. */
export function figuresSince(range: FiguresRange, nowMs: number): string {
  const { windowMs, windows } = FIGURES[range];
  return new Date(Math.floor(nowMs / windowMs) * windowMs - (windows - 1) * windowMs).toISOString();
}

/** Which destinations are listed, as the address says it. */
export interface DestinationFilters {
  search?: string;
  status?: 'active' | 'disabled';
  circuit?: 'closed' | 'open' | 'half_open';
}

export const STATES = ['active', 'disabled'] as const;
export const CIRCUITS = ['open', 'half_open', 'closed'] as const;

/** The filters of an address; what is none is left out. */
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
