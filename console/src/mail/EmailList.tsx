import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { t } from '../kit/messages/t';
import { randomUuid } from '../kit/random-uuid';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { SelectAll, SelectRow } from './SelectCells';
import { SelectionBar } from './SelectionBar';
import { useSelection } from './use-selection';

type Email = Schemas['EmailItem'];

/** Emails with checkboxes, and the actions on the selected ones. */
export function EmailList({ rows }: { rows: readonly Email[] }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const { selected, mark, markAll, clear } = useSelection(rows);
  // One Idempotency-Key per email, so that a retried call does not send the email twice.
  const [keys] = useState(() => new Map<string, string>());
  const keyOf = (id: string): string => {
    const key = keys.get(id) ?? randomUuid();
    keys.set(id, key);
    return key;
  };
  const failed = selected.filter(({ status }) => status === 'failed' || status === 'dlq').map(({ id }) => id);
  const scheduled = selected.filter(({ status }) => status === 'scheduled').map(({ id }) => id);
  return (
    <>
      {selected.length > 0 && (
        <SelectionBar
          count={selected.length}
          onClear={() => {
            keys.clear();
            clear();
          }}
          onDone={() => queries.invalidateQueries({ queryKey: ['emails', env] })}
          actions={[
            {
              label: t('email.again'),
              ids: failed,
              question: t('emails.again', { count: failed.length }),
              act: (id) =>
                answered(
                  api.POST('/v1/events/{id}/replay', {
                    params: { path: { id }, header: { 'Idempotency-Key': keyOf(id) } },
                  }),
                ),
            },
            {
              label: t('email.cancel'),
              ids: scheduled,
              question: t('emails.cancel', { count: scheduled.length }),
              isDangerous: true,
              act: (id) => answered(api.DELETE('/v1/emails/{id}', { params: { path: { id } } })),
            },
          ]}
        />
      )}
      <EmailTable rows={rows} selected={selected} onMark={mark} onMarkAll={markAll} />
    </>
  );
}

interface EmailTableProps {
  rows: readonly Email[];
  selected: readonly Email[];
  onMark: (id: string, isRange: boolean) => void;
  onMarkAll: () => void;
}

function EmailTable({ rows, selected, onMark, onMarkAll }: EmailTableProps): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Email>[] = [
    {
      id: 'select',
      label: t('select'),
      control: <SelectAll count={rows.length} selected={selected.length} onMark={onMarkAll} />,
      cell: (row) => (
        <SelectRow id={row.id} name={subjectOf(row)} isSelected={selected.includes(row)} onMark={onMark} />
      ),
    },
    {
      id: 'subject',
      label: t('mail.subject'),
      cell: (row) => (
        <Link to="/$env/emails/$id" params={{ env, id: row.id }} preload={false}>
          <bdi>{subjectOf(row)}</bdi>
        </Link>
      ),
      full: subjectOf,
      isFlexible: true,
    },
    {
      id: 'status',
      label: t('column.status'),
      cell: ({ status, scheduled_at: at }) => (
        <>
          <Status of={status} />{' '}
          {at !== undefined && status === 'scheduled' && (
            <span className="quiet">
              <RelativeTime at={at} />
            </span>
          )}
        </>
      ),
    },
    {
      id: 'to',
      label: t('mail.to'),
      cell: ({ to }) => (
        <>
          <bdi>{to[0] ?? '–'}</bdi>
          {to.length > 1 && <span className="tag">{t('mail.and-more', { count: to.length - 1 })}</span>}
        </>
      ),
      full: ({ to }) => to.join(', '),
      isFlexible: true,
    },
    { id: 'from', label: t('mail.from'), cell: ({ from }) => from || '–', isFlexible: true },
    { id: 'accepted', label: t('mail.accepted'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="emails" label={t('nav.emails')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}

const subjectOf = ({ subject }: Email): string => subject || t('mail.no-subject');
