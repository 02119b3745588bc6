import { useMatches } from '@tanstack/react-router';

/** Returns the tab of the current screen: the last one whose route contains the route of the screen. */
export function useTab<Tab extends readonly [to: string, ...unknown[]]>(tabs: readonly Tab[]): Tab | undefined {
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath ?? '' });
  return tabs.findLast(([to]) => path.startsWith(to));
}
