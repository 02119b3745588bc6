import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { MessageDetail } from './mail-queries';

/** Releases a quarantined message, or replays another one. */
export function MessageActions({ message, alias }: { message: MessageDetail; alias: string }): ReactNode {
  const { api, can, environment } = useSigned();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  if (message.status === 'received') return null;
  const isQuarantined = message.status === 'quarantined';
  const act = async (): Promise<void> => {
    await answered<unknown>(
      isQuarantined
        ? api.POST('/v1/aliases/{alias}/messages/{messageId}/release', {
            params: { path: { alias, messageId: message.id } },
          })
        : api.POST('/v1/events/{id}/replay', { params: { path: { id: message.id } } }),
    );
    await queries.invalidateQueries({ queryKey: ['message', environment, alias] });
    await queries.invalidateQueries({ queryKey: ['messages', environment, alias] });
  };
  const label = t(isQuarantined ? 'message.release' : 'replay');
  return (
    <span className="actions">
      <button type="button" className="primary" onClick={() => setAsked(true)}>
        {label}
      </button>
      {isAsked && (
        <Confirm title={label} action={label} onConfirm={act} onClose={() => setAsked(false)}>
          <p>
            {t(isQuarantined ? 'message.release-text' : 'event.replay')}{' '}
            <strong>{t(`environment.${environment}`)}</strong>
          </p>
        </Confirm>
      )}
    </span>
  );
}
