import { useLayoutEffect } from 'react';
import { useShortcut } from '../kit/shortcuts/use-shortcut';

/** Calls `back` on the shortcut for going back, and on Escape unless an open element handles it. */
export function useLeave(back: () => void): void {
  useShortcut('back', back);
  // A layout effect, because the user may press the key as soon as the screen is visible.
  useLayoutEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open], details.account[open]') === null) back();
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  });
}
