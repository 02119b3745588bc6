/** Number of frames to wait for the removal of the focused element. Rendering may take several frames. */
const FRAMES_MAX = 60;

/**
 * Moves the focus to the nearest focusable ancestor if the focused element disappears within the next frames. Without
 * this, keyboard users would start again at the top of the page.
 */
export function keepFocus(): void {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return;
  const ancestors: HTMLElement[] = [];
  for (let element = focused.parentElement; element !== null; element = element.parentElement)
    if (element.hasAttribute('tabindex')) ancestors.push(element);
  const check = (framesLeft: number): void => {
    if (focused.isConnected) {
      if (framesLeft > 0) requestAnimationFrame(() => check(framesLeft - 1));
    } else if (document.activeElement === null || document.activeElement === document.body) {
      ancestors.find(({ isConnected }) => isConnected)?.focus({ preventScroll: true });
    }
  };
  check(FRAMES_MAX);
}
