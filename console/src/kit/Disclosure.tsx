import { type ReactNode, useRef, useState } from 'react';

/**
 * Button that opens a panel below it. Escape, or moving the focus out of the panel, closes the panel and unmounts its
 * content. `children` receives a function that closes the panel.
 */
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
