import { useLayoutEffect } from 'react';
import { useShortcut } from '../kit/shortcuts/use-shortcut';

/** Goes back to the list on the shortcut `back`, and on Escape if no open element handles Escape. */
export function useLeave(back: () => void): void {
  useShortcut('back', back);
  // Uses a layout effect, because the user may press the key as soon as the screen is visible.
  useLayoutEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open], details.account[open]') === null) back();
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  });
}
