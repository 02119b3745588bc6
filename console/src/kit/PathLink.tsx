import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/**
 * Link to a screen of another feature. Takes a plain path instead of a typed route, so that features do not depend on
 * each other.
 */
export function PathLink({
  to,
  search,
  children,
}: {
  to: `/${string}`;
  search?: Readonly<Record<string, string>>;
  children: ReactNode;
}): ReactNode {
  return (
    <Link to={to as '/'} search={(search ?? {}) as never}>
      {children}
    </Link>
  );
}
