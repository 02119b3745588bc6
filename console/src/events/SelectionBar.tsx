import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type EventItem, forEach } from './event-queries';

/** What can be done with the events that are marked. */
export function SelectionBar({ rows, onDone }: { rows: readonly EventItem[]; onDone: () => void }): ReactNode {
  const { can, api, environment } = useSigned();
  const [asked, setAsked] = useState<'replay' | 'cancel' | null>(null);
  const [done, setDone] = useState(0);
  const waiting = rows.filter(({ status }) => status === 'retrying');
  const subjects = asked === 'cancel' ? waiting : rows;
  const act = async (): Promise<void> => {
    const call = (id: string): Promise<unknown> => (asked === 'cancel'
      ? answered(api.POST('/v1/events/{id}/cancel', { params: { path: { id } } }))
      : answered(api.POST('/v1/events/{id}/replay', { params: { path: { id } } })));
    const { failed, fault } = await forEach(subjects.map(({ id }) => id), call, setDone);
    if (failed > 0) throw new Error(t('selection.some-failed', { failed, count: subjects.length, why: fault instanceof Error ? fault.message : '' }));
    onDone();
  };
  return (
    <div className="selection" role="group" aria-label={t('selection')}>
      <span role="status">{t('selection.count', { count: rows.length })}</span>
      {can('write') && <button type="button" onClick={() => setAsked('replay')}>{t('replay')}</button>}
      {can('write') && waiting.length > 0 && <button type="button" onClick={() => setAsked('cancel')}>{t('cancel-waiting')}</button>}
      {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      <button type="button" onClick={onDone}>{t('selection.clear')}</button>
      {asked !== null && (
        <Confirm title={t(asked === 'replay' ? 'replay' : 'cancel-waiting')} action={t(asked === 'replay' ? 'replay' : 'cancel-waiting')} isDangerous={asked === 'cancel'} onConfirm={act} onClose={() => setAsked(null)}>
          <p>{t(asked === 'replay' ? 'selection.replay' : 'selection.cancel', { count: subjects.length })} <strong>{t(environment === 'live' ? 'environment.live' : 'environment.test')}</strong></p>
          {done > 0 && <p role="status"><progress max={subjects.length} value={done} aria-label={t('selection')} /> {done} / {subjects.length}</p>}
        </Confirm>
      )}
    </div>
  );
}
