import { withoutRow, withRow } from '../kit/undo/cached-rows';
import type { ChangedView } from '../kit/undo/perform';
import type { SuppressionFilters } from './mail-filters';

/** The fields of a suppression by which lists are filtered. */
interface Listed {
  id: string;
  email: string;
  origin: string;
}

/**
 * Returns whether suppressing the address again restores the suppression. True if it was added manually and does not
 * expire.
 */
export function isRestorable({ origin, expires_at: end }: { origin: string; expires_at: string | null }): boolean {
  return origin === 'manual' && end === null;
}

/** Removes a suppression from all cached lists of the environment. */
export function removal(environment: string, { id }: Listed): ChangedView {
  return { queryKey: ['suppressions', environment], change: withoutRow(id) };
}

/** Adds a suppression to those cached lists of the environment whose filters it matches. */
export function addition(environment: string, row: Listed): ChangedView {
  return {
    queryKey: ['suppressions', environment],
    change: (data, [, , filters]) => (isListed(filters as SuppressionFilters, row) ? withRow(row)(data) : data),
  };
}

function isListed({ origin, email }: SuppressionFilters, row: Listed): boolean {
  if (origin !== undefined && origin !== row.origin) return false;
  return email === undefined || email.toLowerCase() === row.email.toLowerCase();
}
