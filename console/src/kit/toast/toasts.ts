/** A short message about an action that succeeded. */
export interface Toast {
  id: number;
  text: string;
}

/** Maximum number of messages. Older messages disappear first, so that they never cover the page. */
const SHOWN_MAX = 3;

let shown: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

export function toasts(): readonly Toast[] {
  return shown;
}

/** Calls the listener after every change. Returns a function that unsubscribes. */
export function onToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Shows a message that an action succeeded. */
export function toast(text: string): void {
  lastId += 1;
  change([...shown, { id: lastId, text }].slice(-SHOWN_MAX));
}

export function closeToast(id: number): void {
  change(shown.filter((each) => each.id !== id));
}

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}
