import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { randomUuid } from '../kit/random-uuid';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { useSigned } from '../session/session';
import type { EventDetail } from './event-queries';
import { replayTo } from './replay-to';
import { ReplayTarget } from './ReplayTarget';

/** Actions on one event. If the user lacks the permission for an action, shows which permission is required. */
export function EventActions({ event }: { event: EventDetail }): ReactNode {
  const { can, api, environment } = useSigned();
  const queries = useQueryClient();
  const [target, setTarget] = useState<string | null>(null);
  const [key, setKey] = useState(randomUuid);
  const [asked, setAsked] = useState<'replay' | 'cancel' | 'erase' | null>(null);
  const params = { path: { id: event.id } };
  const mayReplay = can('write') && event.payload_erased_at === undefined;
  useShortcut('replay', () => setAsked('replay'), mayReplay);
  const act = async (): Promise<void> => {
    if (asked === 'replay') {
      await replayTo(api, environment, event.id, target, key);
      setKey(randomUuid());
    }
    if (asked === 'cancel') await answered(api.POST('/v1/events/{id}/cancel', { params }));
    if (asked === 'erase') await answered(api.DELETE('/v1/events/{id}/payload', { params }));
    // Removes the cached payload only after an erasure, because no other action changes the payload.
    if (asked === 'erase') queries.removeQueries({ queryKey: ['payload', environment, event.id] });
    await queries.invalidateQueries({ queryKey: ['event', environment] });
  };
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  const text =
    asked === null
      ? null
      : t(({ replay: 'event.replay', cancel: 'event.cancel', erase: 'event.erase' } as const)[asked]);
  const label =
    asked === null ? '' : t(({ replay: 'replay', cancel: 'cancel-waiting', erase: 'erase' } as const)[asked]);
  return (
    <span className="actions">
      {mayReplay && (
        <button type="button" className="primary" title={keysOf('replay')} onClick={() => setAsked('replay')}>
          {t('replay')}
        </button>
      )}
      {event.status === 'retrying' && (
        <button type="button" onClick={() => setAsked('cancel')}>
          {t('cancel-waiting')}
        </button>
      )}
      {event.payload_erased_at === undefined && (
        <button type="button" onClick={() => setAsked('erase')}>
          {t('erase')}
        </button>
      )}
      {asked !== null && (
        <Confirm
          title={label}
          action={label}
          isDangerous={asked !== 'replay'}
          isOff={asked === 'replay' && target === ''}
          onConfirm={act}
          onClose={() => setAsked(null)}
          {...(asked === 'erase' && { typed: event.event_type })}
        >
          <p>
            {asked === 'replay' && target !== null ? t('replay-to.event') : text}{' '}
            <strong>{t(environment === 'live' ? 'environment.live' : 'environment.test')}</strong>
          </p>
          {asked === 'replay' && <ReplayTarget value={target} onChange={setTarget} />}
        </Confirm>
      )}
    </span>
  );
}
