import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t } from './messages/t';

interface CrumbsProps {
  /** Path of the page above this one. */
  to: `/${string}`;
  search?: object;
  /** Name of the page above this one. */
  label: ReactNode;
  title?: string | undefined;
  /** Further links to related pages. */
  children?: ReactNode;
}

/** Link to the page above this one, and links to related pages. */
export function Crumbs({ to, search = {}, label, title, children }: CrumbsProps): ReactNode {
  return (
    <nav className="crumbs" aria-label={t('neighbours')}>
      {/* Without `exact`, the link would count as a link to the current page, whose path begins with this path. */}
      <Link to={to as '/'} search={search as never} title={title} activeOptions={{ exact: true }}>
        ← {label}
      </Link>
      {children}
    </nav>
  );
}
