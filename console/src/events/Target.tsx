import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useSigned } from '../session/session';
import { useDestinationNames } from './event-queries';

/** Name of a destination. Shows the URL or the id if the name is unknown. */
export function Target({ of }: { of: string }): ReactNode {
  const { environment: env } = useSigned();
  const known = useDestinationNames().get(of);
  if (!of.startsWith('dst_')) return <code>{of}</code>;
  return (
    <Link to="/$env/destinations/$id" params={{ env, id: of }}>
      {known?.name ?? of}
    </Link>
  );
}
