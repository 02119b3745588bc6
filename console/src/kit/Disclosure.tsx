import { type ReactNode, useRef, useState } from 'react';

/** A button that opens a panel below it; Escape and leaving it close it again, and what is closed is not there. `children` are given what closes it. */
export function Disclosure({
  label,
  title,
  children,
}: {
  label: ReactNode;
  title?: string;
  children: (close: () => void) => ReactNode;
}): ReactNode {
  const details = useRef<HTMLDetailsElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = (): void => {
    details.current?.removeAttribute('open');
    details.current?.querySelector('summary')?.focus();
  };
  return (
    <details
      className="disclosure"
      ref={details}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && details.current?.open) {
          event.stopPropagation();
          close();
        }
      }}
      onBlur={(event) => {
        if (event.relatedTarget !== null && !event.currentTarget.contains(event.relatedTarget))
          details.current?.removeAttribute('open');
      }}
    >
      <summary className="button" title={title}>
        {label}
      </summary>
      {isOpen && <div className="panel">{children(close)}</div>}
    </details>
  );
}
