import { type ReactNode, useState } from 'react';
import { t } from '../messages/t';
import { Time } from '../time/Time';
import type { Plotted } from './series';

interface PlotTableProps extends Plotted {
  title: string;
  value: (values: readonly (number | null)[], index: number) => string;
  onRange?: ((fromMs: number, toMs: number) => void) | undefined;
}

/**
 * The figures of a plot as a table, newest first. Opening a time window has the same effect as dragging over it in the
 * plot.
 */
export function PlotTable({ title, startsMs, windowMs, series, value, onRange }: PlotTableProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="quiet">
        {t('plot.table')}
        <span className="offscreen"> {title}</span>
      </summary>
      {isOpen && (
        <div className="scroll plot-table" tabIndex={0} role="region" aria-label={title}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('plot.window')}</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" className="numeric">
                    {label}
                  </th>
                ))}
                {onRange && <th scope="col">{t('plot.events')}</th>}
              </tr>
            </thead>
            <tbody>
              {startsMs
                .map((ms, index) => (
                  <tr key={ms}>
                    <th scope="row">
                      <Time at={new Date(ms).toISOString()} />
                    </th>
                    {series.map(({ label, values }) => (
                      <td key={label} className="numeric">
                        {value(values, index)}
                      </td>
                    ))}
                    {onRange && (
                      <td>
                        <button type="button" className="small" onClick={() => onRange(ms, ms + windowMs)}>
                          {t('plot.open')}
                        </button>
                      </td>
                    )}
                  </tr>
                ))
                .reverse()}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
