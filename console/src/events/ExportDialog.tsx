import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { EventItem } from '../api/client';
import { download } from '../kit/copy';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { formatCount } from '../kit/format-count';
import { t } from '../kit/messages/t';
import { useSecondsLeft } from '../kit/time/use-seconds-left';
import { useSigned } from '../session/session';
import { collectEvents, EXPORT_MAX } from './collect-events';
import type { EventQuery } from './event-filters';
import { countOf, pageOf } from './event-list';
import { type ExportFormat, FORMATS, headOf, linesOf } from './export-format';

/** Events to export: the loaded rows, or all results of a query. */
export type Exported = { rows: readonly EventItem[] } | { query: EventQuery };

/** Dialog that shows the number of events, asks for the format, and creates the file. */
export function ExportDialog({ of, onClose }: { of: Exported; onClose: () => void }): ReactNode {
  const { api, environment } = useSigned();
  const [format, setFormat] = useState<ExportFormat>('jsonl');
  const [progress, setProgress] = useState<{ done: number; waits: number | null } | null>(null);
  const waitSeconds = useSecondsLeft(progress?.waits ?? 0, progress);
  const stop = useRef(new AbortController());
  useEffect(() => {
    const controller = (stop.current = new AbortController());
    return () => controller.abort(new Error('closed'));
  }, []);
  const query = 'query' in of ? of.query : null;
  const counted = useQuery({
    queryKey: ['event-count', environment, 'export', query],
    queryFn: () => countOf(api, query ?? {}),
    enabled: query !== null,
  });
  const count = 'rows' in of ? { count: of.rows.length, is_capped: false } : counted.data;
  const make = async (): Promise<void> => {
    const parts = [headOf(format)];
    const take = (rows: readonly EventItem[]): void => void parts.push(linesOf(format, rows));
    let isCut = false;
    if ('rows' in of) take(of.rows);
    else {
      const { signal } = stop.current;
      ({ isCut } = await collectEvents(
        (cursor) => pageOf(api, { ...of.query, ...(cursor !== null && { cursor }) }, signal),
        take,
        (done, waits) => setProgress({ done, waits }),
        signal,
      ));
    }
    download(
      new Blob(parts),
      `events-${environment}.${format}`,
      format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson',
    );
    if (isCut) throw new Error(t('export.cut', { count: EXPORT_MAX }));
  };
  return (
    <Confirm title={t('export')} action={t('export')} onConfirm={make} onClose={onClose}>
      <FaultLine fault={counted.error} />
      <p role="status">{count === undefined ? t('counting') : t('export.count', { count: formatCount(count) })}</p>
      <p>
        <label>
          {t('export.format')}
          <select
            value={format}
            onChange={({ target }) => setFormat(FORMATS.find((each) => each === target.value) ?? 'jsonl')}
          >
            {FORMATS.map((each) => (
              <option key={each} value={each}>
                {t(`export.${each}`)}
              </option>
            ))}
          </select>
        </label>
      </p>
      {progress !== null && waitSeconds > 0 && <p role="timer">{t('waits', { seconds: waitSeconds })}</p>}
      {progress !== null && (
        <p role="status">
          {count !== undefined && !count.is_capped && (
            <progress max={Math.max(1, count.count)} value={progress.done} aria-label={t('export')} />
          )}{' '}
          {t('export.progress', { count: progress.done })}
        </p>
      )}
    </Confirm>
  );
}
