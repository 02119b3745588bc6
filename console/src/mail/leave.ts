import { useLayoutEffect } from 'react';
import { useShortcut } from '../kit/shortcuts/use-shortcut';

/** Back to the list: by its shortcut, and by Escape while nothing else is open that Escape closes. */
export function useLeave(back: () => void): void {
  useShortcut('back', back);
  // Before the screen is seen: who sees it may press the key.
  useLayoutEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open], details.account[open]') === null) back();
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  });
}
