import './plot.css';
import { type ReactNode, Suspense, useState } from 'react';
import { lazyPart } from '../load/lazy-part';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { formatTime } from '../time/format';
import { PlotTable } from './PlotTable';
import { isZero, type Plotted } from './series';

const PlotCanvas = lazyPart(() => import('./PlotCanvas').then(({ default: component }) => component));

interface PlotProps extends Plotted {
  title: string;
  /** All plots with the same key show the cursor at the same time window. */
  cursorKey: string;
  format?: (value: number) => string;
  /** Called with the time range that the user selected by dragging, or with the time window chosen in the table. */
  onRange?: (fromMs: number, toMs: number) => void;
}

/**
 * Chart of figures over time. Its legend shows the values at the cursor. A table shows the same figures to users who
 * cannot see the chart or use a pointer.
 */
export function Plot({ title, startsMs, windowMs, series, cursorKey, format, onRange }: PlotProps): ReactNode {
  const { language } = usePreferences();
  const [at, setAt] = useState<number | null>(null);
  const formatValue = format ?? ((value: number): string => new Intl.NumberFormat(language).format(value));
  const startMs = at === null ? undefined : startsMs[at];
  const value = (values: readonly (number | null)[], index: number): string => {
    const found = values[index] ?? null;
    return found === null ? '–' : formatValue(found);
  };
  return (
    <figure className="plot">
      <figcaption>
        <strong>{title}</strong>{' '}
        <span className="quiet">
          {startMs === undefined ? '' : formatTime(new Date(startMs).toISOString(), language).local}
        </span>
      </figcaption>
      <ul className="plot-legend">
        {series.map((each) => (
          <li key={each.label} className={isZero(each) ? 'zero' : undefined}>
            <span className={`plot-key ${each.tone} ${each.kind} ${each.dash ?? 'solid'}`} aria-hidden="true" />
            {each.label} <b>{at === null ? each.summary : value(each.values, at)}</b>
          </li>
        ))}
      </ul>
      <Suspense fallback={<div className="plot-canvas" />}>
        <PlotCanvas
          label={t('plot.label', { title })}
          startsMs={startsMs}
          windowMs={windowMs}
          series={series}
          cursorKey={cursorKey}
          format={formatValue}
          onCursor={setAt}
          onRange={onRange}
        />
      </Suspense>
      <PlotTable
        title={title}
        startsMs={startsMs}
        windowMs={windowMs}
        series={series}
        value={value}
        onRange={onRange}
      />
    </figure>
  );
}
