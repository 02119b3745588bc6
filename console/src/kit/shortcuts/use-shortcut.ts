import { useLayoutEffect, useRef } from 'react';
import { readKey, type ShortcutId } from './registry';

const handlers = new Map<ShortcutId, (() => void)[]>();
let before: string | null = null;

/**
 * Runs the handler on a shortcut while the component is mounted. If several components use a shortcut, only the one
 * mounted last handles it.
 */
export function useShortcut(id: ShortcutId, handler: () => void, isOn = true): void {
  const latest = useRef(handler);
  // A layout effect runs before the screen is visible, so the handler is ready for the first key press.
  useLayoutEffect(() => void (latest.current = handler));
  useLayoutEffect(() => {
    if (!isOn) return;
    const call = (): void => latest.current();
    handlers.set(id, [...(handlers.get(id) ?? []), call]);
    return () =>
      void handlers.set(
        id,
        (handlers.get(id) ?? []).filter((other) => other !== call),
      );
  }, [id, isOn]);
}

/** Listens to the keyboard. Returns a function that stops listening. */
export function listenToKeys(): () => void {
  const listen = (event: KeyboardEvent): void => {
    const target = event.target instanceof HTMLElement ? event.target : null;
    const isTyping =
      target !== null &&
      (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)) &&
      !target.matches('input[type=checkbox]');
    const isInDialog = document.querySelector('dialog[open]') !== null;
    if (isInDialog || event.isComposing) return;
    const { id, after } = readKey(
      { key: event.key, isMod: event.ctrlKey || event.metaKey, isAlt: event.altKey, isTyping },
      before,
    );
    before = after;
    const handler = id === null ? undefined : handlers.get(id)?.at(-1);
    if (handler === undefined) return;
    event.preventDefault();
    handler();
  };
  document.addEventListener('keydown', listen);
  return () => document.removeEventListener('keydown', listen);
}
