import './toast.css';
import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react';
import { Icon } from '../icon/Icon';
import { t } from '../messages/t';
import { closeToast, onToasts, type Toast, toasts } from './toasts';

/** Time for which a message is visible. The time starts again after the pointer or the focus leaves the message. */
const SHOWN_MS = 6_000;

/** Messages about actions that succeeded. Screen readers announce them when they are idle. */
export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(onToasts, toasts);
  return (
    <section className="toasts" aria-label={t('toasts')} aria-live="polite">
      {shown.map((each) => (
        <ToastLine key={each.id} toast={each} />
      ))}
    </section>
  );
}

function ToastLine({ toast: { id, text } }: { toast: Toast }): ReactNode {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => closeToast(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, isHeld]);
  return (
    <div
      className="toast"
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      onKeyDown={({ key }) => {
        if (key === 'Escape') closeToast(id);
      }}
    >
      <span>
        <span aria-hidden="true">✓</span> <bdi>{text}</bdi>
      </span>
      <button type="button" aria-label={t('dismiss')} title={t('dismiss')} onClick={() => closeToast(id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}
