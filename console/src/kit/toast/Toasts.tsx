import './toast.css';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Icon } from '../icon/Icon';
import { t } from '../messages/t';
import { keysOf } from '../shortcuts/registry';
import { useShortcut } from '../shortcuts/use-shortcut';
import { closeToast, onToasts, type Toast, type ToastAction, toasts } from './toasts';

/** Time for which a message is visible. The time starts again after the pointer or the focus leaves the message. */
const SHOWN_MS = 6_000;
/** Time for which a message with a button is visible. */
const ACTION_MS = 12_000;

/** Messages about actions. Screen readers announce them when they are idle, and failures at once. */
export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(onToasts, toasts);
  const before = useRef<Element | null>(null);
  const latest = shown.findLast(({ action }) => action !== null);
  useShortcut('undo', () => latest && run(latest), latest !== undefined);
  return (
    <section
      className="toasts"
      aria-label={t('toasts')}
      aria-live="polite"
      onFocus={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget;
      }}
    >
      {shown.map((each) => (
        <ToastLine key={each.id} toast={each} onFocusLost={() => returnFocus(before.current)} />
      ))}
    </section>
  );
}

function ToastLine({ toast, onFocusLost }: { toast: Toast; onFocusLost: () => void }): ReactNode {
  const { id, text, tone, action } = toast;
  const line = useRef<HTMLDivElement>(null);
  const [isHovered, setHovered] = useState(false);
  const [isFocused, setFocused] = useState(false);
  const shownMs = action === null ? SHOWN_MS : ACTION_MS;
  useEffect(() => {
    if (isHovered || isFocused || tone === 'bad') return;
    const timer = setTimeout(() => closeToast(id), shownMs);
    return () => clearTimeout(timer);
  }, [id, tone, shownMs, isHovered, isFocused]);
  useLayoutEffect(() => {
    const element = line.current;
    return () => {
      if (element?.contains(document.activeElement)) onFocusLost();
    };
    // `onFocusLost` is not a dependency, because it is called only when the message disappears.
  }, []);
  return (
    <div
      ref={line}
      className={`toast ${tone}`}
      role={tone === 'bad' ? 'alert' : undefined}
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
      onKeyDown={({ key }) => {
        if (key === 'Escape') closeToast(id);
      }}
    >
      <span>
        <span aria-hidden="true">{tone === 'bad' ? '✕' : '✓'}</span> <bdi>{text}</bdi>
      </span>
      <span className="toast-buttons">
        {action !== null && <ActionButton of={action} onClick={() => run(toast)} />}
        <button
          type="button"
          className="toast-close"
          aria-label={t('dismiss')}
          title={t('dismiss')}
          onClick={() => closeToast(id)}
        >
          <Icon name="close" />
        </button>
      </span>
    </div>
  );
}

function ActionButton({ of: { label }, onClick }: { of: ToastAction; onClick: () => void }): ReactNode {
  const keys = keysOf('undo');
  return (
    <button type="button" className="small" aria-keyshortcuts={keys} onClick={onClick}>
      {label} <kbd aria-hidden="true">{keys}</kbd>
    </button>
  );
}

/** Closes a message, and runs its action. */
function run({ id, action }: Toast): void {
  closeToast(id);
  action?.onSelect();
}

/** Returns the focus to the element that had it before the user entered the messages, or else to the page. */
function returnFocus(before: Element | null): void {
  queueMicrotask(() => {
    const target = before?.isConnected ? before : document.querySelector('main');
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  });
}
