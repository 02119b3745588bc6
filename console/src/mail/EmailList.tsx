import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { t } from '../kit/messages/t';
import { randomUuid } from '../kit/random-uuid';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
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
      <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.emails')}>
        <table className="plain">
          <thead>
            <tr>
              <SelectAll count={rows.length} selected={selected.length} onMark={markAll} />
              <th scope="col">{t('mail.subject')}</th>
              <th scope="col">{t('column.status')}</th>
              <th scope="col">{t('mail.to')}</th>
              <th scope="col">{t('mail.from')}</th>
              <th scope="col">{t('mail.accepted')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <EmailRow key={row.id} row={row} isSelected={selected.includes(row)} onMark={mark} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface EmailRowProps {
  row: Email;
  isSelected: boolean;
  onMark: (id: string, isRange: boolean) => void;
}

function EmailRow({ row, isSelected, onMark }: EmailRowProps): ReactNode {
  const { environment: env } = useSigned();
  return (
    <tr>
      <SelectRow id={row.id} name={row.subject || t('mail.no-subject')} isSelected={isSelected} onMark={onMark} />
      <td className="long">
        <Link to="/$env/emails/$id" params={{ env, id: row.id }} preload={false}>
          <bdi>{row.subject || t('mail.no-subject')}</bdi>
        </Link>
      </td>
      <td>
        <Status of={row.status} />
        {row.scheduled_at !== undefined && row.status === 'scheduled' && (
          <div className="quiet">
            <Time at={row.scheduled_at} />
          </div>
        )}
      </td>
      <td className="long">
        <bdi>{row.to[0] ?? '–'}</bdi>
        {row.to.length > 1 && <span className="tag">{t('mail.and-more', { count: row.to.length - 1 })}</span>}
      </td>
      <td className="long">
        <bdi>{row.from || '–'}</bdi>
      </td>
      <td>
        <Time at={row.created_at} />
      </td>
    </tr>
  );
}
