import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t, word } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import type { Suppression } from './mail-queries';

interface SuppressionTableProps {
  rows: readonly Suppression[];
  onRemove: (row: Suppression) => void;
}

/** Suppressed addresses, with the reason and the email that caused the suppression. */
export function SuppressionTable({ rows, onRemove }: SuppressionTableProps): ReactNode {
  const { can, environment: env } = useSigned();
  const columns: Column<Suppression>[] = [
    { id: 'email', label: t('suppression.email'), cell: ({ email }) => email, isFlexible: true },
    { id: 'origin', label: t('suppression.origin'), cell: ({ origin }) => word('origin', origin) },
    {
      id: 'source',
      label: t('suppression.source'),
      cell: ({ source_id: source, email }) =>
        source === null ? (
          '–'
        ) : (
          <Link
            to="/$env/emails/$id"
            params={{ env, id: source }}
            preload={false}
            aria-label={`${t('suppression.source')}: ${email}`}
          >
            {t('mail.email')}
          </Link>
        ),
    },
    { id: 'since', label: t('suppression.since'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
    {
      id: 'until',
      label: t('suppression.until'),
      cell: ({ expires_at: at }) => (at === null ? '–' : <RelativeTime at={at} />),
    },
  ];
  return (
    <Table<Suppression>
      id="suppressions"
      label={t('nav.suppressions')}
      rows={rows}
      columns={columns}
      keyOf={({ id }) => id}
      {...(can('write') && {
        actions: {
          nameOf: ({ email }) => email,
          itemsOf: (row) => [{ label: t('suppression.remove'), onSelect: () => onRemove(row) }],
        },
      })}
    />
  );
}
