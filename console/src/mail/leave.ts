import { useLayoutEffect } from 'react';
import { useShortcut } from '../kit/shortcuts/use-shortcut';

/** Calls `back` on the shortcut for going back. Also calls `back` on Escape if no open element handles Escape. */
export function useLeave(back: () => void): void {
  useShortcut('back', back);
  // A layout effect runs before the screen is visible, so the handler is ready for the first key press.
  useLayoutEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open], details.account[open]') === null) back();
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  });
}
