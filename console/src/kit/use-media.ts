import { useCallback, useSyncExternalStore } from 'react';

/** Media query of screens that are as narrow as a phone's, as in the style sheets. */
export const PHONE = '(max-width: 40rem)';

/** Returns whether a media query matches. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const media = matchMedia(query);
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}
