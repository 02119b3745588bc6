import './empty-state.css';
import { type ReactNode, useId } from 'react';
import { Icon, type IconName } from '../icon/Icon';

interface EmptyStateProps {
  icon: IconName;
  title: string;
  /** Sentences about the purpose of the list. */
  children: ReactNode;
  /** The page's primary action. Absent if the user may not perform it. */
  action?: { label: string; onSelect: () => void } | undefined;
  docs: { label: string; href: string };
}

/** Explains a list without items, with the first action to take and a link to the documentation. */
export function EmptyState({ icon, title, children, action, docs }: EmptyStateProps): ReactNode {
  const heading = useId();
  return (
    <section className="empty-state" aria-labelledby={heading}>
      <span className="empty-icon">
        <Icon name={icon} />
      </span>
      <h2 id={heading}>{title}</h2>
      <p>{children}</p>
      <p className="actions">
        {action && (
          <button type="button" className="primary" onClick={action.onSelect}>
            {action.label}
          </button>
        )}
        <a className="button" href={docs.href} target="_blank" rel="noreferrer noopener">
          {docs.label}
        </a>
      </p>
    </section>
  );
}
