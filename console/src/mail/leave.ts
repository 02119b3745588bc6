import { useLayoutEffect } from 'react';
import { useShortcut } from '../kit/shortcuts/use-shortcut';

/** Goes back to the list on its shortcut, and on Escape if no open element uses it. */
export function useLeave(back: () => void): void {
  useShortcut('back', back);
  // This must be a layout effect, because the user may press the key as soon as the screen is visible.
  useLayoutEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open], details.account[open]') === null) back();
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  });
}
