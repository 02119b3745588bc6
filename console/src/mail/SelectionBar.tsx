import { type ReactNode, useEffect, useRef, useState } from 'react';
import { doToMany } from '../api/do-to-many';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';

/** An action that the bar offers for some of the selected rows. */
export interface BulkAction {
  label: string;
  /** Ids of the selected rows to which the action applies. */
  ids: readonly string[];
  /** Question of the dialog, with the number of rows. */
  question: string;
  isDangerous?: boolean;
  act: (id: string) => Promise<unknown>;
}

interface SelectionBarProps {
  count: number;
  actions: readonly BulkAction[];
  onClear: () => void;
  /** Called after an action ran, so that the list is read again. */
  onDone: () => Promise<unknown>;
}

/** Number of selected rows, and the actions on them. */
export function SelectionBar({ count, actions, onClear, onDone }: SelectionBarProps): ReactNode {
  const { can } = useSigned();
  const [asked, setAsked] = useState<BulkAction | null>(null);
  return (
    <div className="mail-selection" role="group" aria-label={t('mail.selection')}>
      <span role="status">{t('selection.count', { count })}</span>
      {can('write') ? (
        actions.map((action) => (
          <button
            key={action.label}
            type="button"
            disabled={action.ids.length === 0}
            title={action.ids.length === 0 ? t('mail.selection-none') : undefined}
            onClick={() => setAsked(action)}
          >
            {action.label} ({action.ids.length})
          </button>
        ))
      ) : (
        <span className="quiet">{t('needs-write')}</span>
      )}
      <button type="button" onClick={onClear}>
        {t('selection.clear')}
      </button>
      {asked !== null && (
        <ActOnMany action={asked} onClose={() => setAsked(null)} onEnd={() => onDone()} onSuccess={onClear} />
      )}
    </div>
  );
}

interface ActOnManyProps {
  action: BulkAction;
  onClose: () => void;
  onEnd: () => Promise<unknown>;
  onSuccess: () => void;
}

function ActOnMany({ action, onClose, onEnd, onSuccess }: ActOnManyProps): ReactNode {
  const { environment } = useSigned();
  const [done, setDone] = useState(0);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const controller = (stop.current = new AbortController());
    return () => controller.abort(new Error('closed'));
  }, []);
  const { ids, act } = action;
  const run = async (): Promise<void> => {
    const { failed, fault } = await doToMany(ids, act, setDone, stop.current.signal);
    await onEnd();
    if (failed > 0)
      throw new Error(
        t('selection.some-failed', { failed, count: ids.length, why: fault instanceof Error ? fault.message : '' }),
      );
    onSuccess();
  };
  return (
    <Confirm
      title={action.label}
      action={action.label}
      isDangerous={action.isDangerous ?? false}
      onConfirm={run}
      onClose={onClose}
    >
      <p>
        {action.question} <strong>{t(environment === 'live' ? 'environment.live' : 'environment.test')}</strong>
      </p>
      {done > 0 && (
        <p role="status">
          <progress max={ids.length} value={done} aria-label={t('mail.selection')} /> {done} / {ids.length}
        </p>
      )}
    </Confirm>
  );
}
