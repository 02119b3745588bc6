import { type ReactNode, useEffect, useRef, useState } from 'react';
import { answered, type EventItem, serviceNowMs } from '../api/client';
import { doToMany } from '../api/do-to-many';
import { Confirm } from '../kit/dialog/Confirm';
import { formatCount } from '../kit/format-count';
import { t } from '../kit/messages/t';
import { randomUuid } from '../kit/random-uuid';
import { useSigned } from '../session/session';
import { BulkJob } from './BulkJob';
import { asFixedQuery, type EventFilters, type EventQuery } from './event-filters';
import { useCount } from './event-list';
import { ExportDialog } from './ExportDialog';
import { replayTo } from './replay-to';
import { ReplayTarget } from './ReplayTarget';

type Asked = 'replay' | 'recover' | 'cancel' | 'export';

interface SelectionBarProps {
  /** Selected rows that are loaded. */
  rows: readonly EventItem[];
  /** Query of all events that matched at the time of the selection. Null if individual rows are selected. */
  all: EventQuery | null;
  filters: EventFilters;
  onAll: (query: EventQuery) => void;
  onDone: () => void;
}

/** Actions on the selected events, or on all events that match the filter. */
export function SelectionBar({ rows, all, filters, onAll, onDone }: SelectionBarProps): ReactNode {
  const { can } = useSigned();
  const [asked, setAsked] = useState<Asked | null>(null);
  const { data: count } = useCount(filters);
  const waiting = rows.filter(({ status }) => status === 'retrying');
  const isMore = count !== undefined && (count.is_capped || count.count > rows.length);
  const close = (): void => setAsked(null);
  return (
    <div className="selection" role="group" aria-label={t('selection')}>
      <span role="status">
        {all === null
          ? t('selection.count', { count: rows.length })
          : t('selection.all', { count: count === undefined ? '…' : formatCount(count) })}
      </span>
      {all === null && isMore && (
        <button type="button" className="small" onClick={() => onAll(asFixedQuery(filters, serviceNowMs()))}>
          {t('selection.choose-all', { count: formatCount(count) })}
        </button>
      )}
      {can('write') && (
        <button type="button" onClick={() => setAsked('replay')}>
          {t('replay')}
        </button>
      )}
      {can('write') && all !== null && (
        <button type="button" onClick={() => setAsked('recover')}>
          {t('recover')}
        </button>
      )}
      {can('write') && (all !== null || waiting.length > 0) && (
        <button type="button" onClick={() => setAsked('cancel')}>
          {t('cancel-waiting')}
        </button>
      )}
      <button type="button" onClick={() => setAsked('export')}>
        {t('export')}
      </button>
      {!can('write') && <span className="quiet">{t('needs-write')}</span>}
      <button type="button" onClick={onDone}>
        {t('selection.clear')}
      </button>
      {asked === 'export' && <ExportDialog of={all === null ? { rows } : { query: all }} onClose={close} />}
      {asked !== null && asked !== 'export' && all !== null && (
        <BulkJob action={asked} query={all} onClose={close} onBegun={onDone} />
      )}
      {(asked === 'replay' || asked === 'cancel') && all === null && (
        <OneByOne action={asked} rows={asked === 'cancel' ? waiting : rows} onClose={close} onDone={onDone} />
      )}
    </div>
  );
}

/** Asks for confirmation, then processes each selected event separately. Reports the number of failures. */
function OneByOne({
  action,
  rows,
  onClose,
  onDone,
}: {
  action: 'replay' | 'cancel';
  rows: readonly EventItem[];
  onClose: () => void;
  onDone: () => void;
}): ReactNode {
  const { api, environment } = useSigned();
  const [done, setDone] = useState(0);
  const [target, setTarget] = useState<string | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const controller = (stop.current = new AbortController());
    return () => controller.abort(new Error('closed'));
  }, []);
  const act = async (): Promise<void> => {
    // All tries for an event use the same Idempotency-Key, so that a retry does not send the event twice.
    const keys = new Map(rows.map(({ id }) => [id, randomUuid()]));
    const call = (id: string): Promise<unknown> => {
      const key = keys.get(id) ?? randomUuid();
      const params = { path: { id }, header: { 'Idempotency-Key': key } };
      return action === 'cancel'
        ? answered(api.POST('/v1/events/{id}/cancel', { params }))
        : replayTo(api, environment, id, target, key);
    };
    const { failed, fault } = await doToMany(
      rows.map(({ id }) => id),
      call,
      setDone,
      stop.current.signal,
    );
    if (failed > 0)
      throw new Error(
        t('selection.some-failed', { failed, count: rows.length, why: fault instanceof Error ? fault.message : '' }),
      );
    onDone();
  };
  const label = t(action === 'replay' ? 'replay' : 'cancel-waiting');
  return (
    <Confirm
      title={label}
      action={label}
      isDangerous={action === 'cancel'}
      isOff={action === 'replay' && target === ''}
      onConfirm={act}
      onClose={onClose}
    >
      <p>
        {t(action === 'replay' ? 'selection.replay' : 'selection.cancel', { count: rows.length })}{' '}
        <strong>{t(environment === 'live' ? 'environment.live' : 'environment.test')}</strong>
      </p>
      {action === 'replay' && <ReplayTarget value={target} onChange={setTarget} />}
      {done > 0 && (
        <p role="status">
          <progress max={rows.length} value={done} aria-label={t('selection')} /> {done} / {rows.length}
        </p>
      )}
    </Confirm>
  );
}
