/** A short message about an action. */
export interface Toast {
  id: number;
  text: string;
  /** `bad` stands for a failed action. Such a message stays until the user closes it. */
  tone: 'good' | 'bad';
  action: ToastAction | null;
  subject: string | null;
}

/** Button of a message. */
export interface ToastAction {
  label: string;
  onSelect: () => void;
}

interface ToastOptions {
  tone?: Toast['tone'];
  action?: ToastAction | undefined;
  /** Object that the message is about. A newer message about the object replaces it. */
  subject?: string;
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

/** Shows a message that an action succeeded, or failed. */
export function toast(text: string, { tone = 'good', action, subject }: ToastOptions = {}): void {
  lastId += 1;
  const others = subject === undefined ? shown : shown.filter((each) => each.subject !== subject);
  change([...others, { id: lastId, text, tone, action: action ?? null, subject: subject ?? null }].slice(-SHOWN_MAX));
}

export function closeToast(id: number): void {
  change(shown.filter((each) => each.id !== id));
}

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}
