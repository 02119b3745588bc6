import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { t, word } from '../kit/messages/t';
import { randomUuid } from '../kit/random-uuid';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import type { Alias } from './mail-queries';
import { SelectAll, SelectRow } from './SelectCells';
import { SelectionBar } from './SelectionBar';
import { useSelection } from './use-selection';

type Message = Schemas['ReceivedMessageItem'];

/** Received messages with checkboxes, and the actions on the selected ones. */
export function MessageList({ rows, alias }: { rows: readonly Message[]; alias: Alias }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const { selected, mark, markAll, clear } = useSelection(rows);
  // One Idempotency-Key per message, so that a retried call does not deliver the message twice.
  const [keys] = useState(() => new Map<string, string>());
  const headerOf = (id: string): { 'Idempotency-Key': string } => {
    const key = keys.get(id) ?? randomUuid();
    keys.set(id, key);
    return { 'Idempotency-Key': key };
  };
  const idsIn = (state: Message['state']): string[] =>
    selected.filter((row) => row.state === state).map(({ id }) => id);
  const [quarantined, processed] = [idsIn('quarantined'), idsIn('processed')];
  return (
    <>
      {selected.length > 0 && (
        <SelectionBar
          count={selected.length}
          onClear={() => {
            keys.clear();
            clear();
          }}
          onDone={() => queries.invalidateQueries({ queryKey: ['messages', env, alias.id] })}
          actions={[
            {
              label: t('message.release'),
              ids: quarantined,
              question: t('messages.release', { count: quarantined.length }),
              act: (messageId) =>
                answered(
                  api.POST('/v1/aliases/{alias}/messages/{messageId}/release', {
                    params: { path: { alias: alias.id, messageId }, header: headerOf(messageId) },
                  }),
                ),
            },
            {
              label: t('replay'),
              ids: processed,
              question: t('messages.replay', { count: processed.length }),
              act: (id) =>
                answered(api.POST('/v1/events/{id}/replay', { params: { path: { id }, header: headerOf(id) } })),
            },
          ]}
        />
      )}
      <MessageTable rows={rows} alias={alias.id} selected={selected} onMark={mark} onMarkAll={markAll} />
    </>
  );
}

interface MessageTableProps {
  rows: readonly Message[];
  alias: string;
  selected: readonly Message[];
  onMark: (id: string, isRange: boolean) => void;
  onMarkAll: () => void;
}

function MessageTable({ rows, alias, selected, onMark, onMarkAll }: MessageTableProps): ReactNode {
  const { environment: env } = useSigned();
  const columns: Column<Message>[] = [
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
        <Link to="/$env/inbox/$alias/$id" params={{ env, alias, id: row.id }} preload={false}>
          <bdi>{subjectOf(row)}</bdi>
        </Link>
      ),
      full: subjectOf,
      isFlexible: true,
    },
    { id: 'from', label: t('mail.from'), cell: ({ from }) => from || '–', isFlexible: true },
    {
      id: 'status',
      label: t('column.status'),
      cell: ({ state, reason }) => (
        <>
          <Status of={state} /> {reason !== null && <span className="quiet">{word('quarantine', reason)}</span>}
        </>
      ),
      isFlexible: true,
    },
    { id: 'auth', label: t('message.auth'), cell: ({ auth }) => <Status of={auth} kind="scan" /> },
    { id: 'received', label: t('column.received'), cell: ({ received_at: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="messages" label={t('messages')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}

const subjectOf = ({ subject }: Message): string => subject || t('mail.no-subject');
