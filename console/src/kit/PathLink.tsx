import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** A link to a screen of another feature, by its path and not by its type: features do not know each other. */
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
