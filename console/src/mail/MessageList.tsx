import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { t, word } from '../kit/messages/t';
import { randomUuid } from '../kit/random-uuid';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
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
      <div className="scroll" tabIndex={0} role="group" aria-labelledby="messages">
        <table className="plain">
          <thead>
            <tr>
              <SelectAll count={rows.length} selected={selected.length} onMark={markAll} />
              <th scope="col">{t('mail.subject')}</th>
              <th scope="col">{t('mail.from')}</th>
              <th scope="col">{t('column.status')}</th>
              <th scope="col">{t('message.auth')}</th>
              <th scope="col">{t('column.received')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <MessageRow key={row.id} row={row} alias={alias.id} isSelected={selected.includes(row)} onMark={mark} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface MessageRowProps {
  row: Message;
  alias: string;
  isSelected: boolean;
  onMark: (id: string, isRange: boolean) => void;
}

function MessageRow({ row, alias, isSelected, onMark }: MessageRowProps): ReactNode {
  const { environment: env } = useSigned();
  return (
    <tr>
      <SelectRow id={row.id} name={row.subject || t('mail.no-subject')} isSelected={isSelected} onMark={onMark} />
      <td className="long">
        <Link to="/$env/inbox/$alias/$id" params={{ env, alias, id: row.id }} preload={false}>
          <bdi>{row.subject || t('mail.no-subject')}</bdi>
        </Link>
      </td>
      <td className="long">
        <bdi>{row.from || '–'}</bdi>
      </td>
      <td>
        <Status of={row.state} />
        {row.reason !== null && <div className="quiet">{word('quarantine', row.reason)}</div>}
      </td>
      <td>
        <Status of={row.auth} kind="scan" />
      </td>
      <td>
        <Time at={row.received_at} />
      </td>
    </tr>
  );
}
