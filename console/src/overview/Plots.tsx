import { type ReactNode, useMemo } from 'react';
import { t } from '../kit/messages/t';
import { Plot } from '../kit/plot/Plot';
import type { Series } from '../kit/plot/series';
import { usePreferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import type { Overview } from './overview-queries';
import { windowMsOf } from './overview-range';

const CURSOR = 'overview';

/** Outcomes of attempts over time, and their latency, in two plots with a shared cursor. */
export function Plots({
  of: { data, total, window },
  onRange,
}: {
  of: Overview;
  onRange: (fromMs: number, toMs: number) => void;
}): ReactNode {
  const { language } = usePreferences();
  const startsMs = useMemo(() => data.map(({ start }) => Date.parse(start)), [data]);
  const number = (value: number): string => new Intl.NumberFormat(language).format(value);
  const count = (
    name: 'delivered' | 'failed' | 'dlq' | 'retried',
    label: string,
    drawn: Pick<Series, 'tone' | 'dash'>,
  ): Series => ({
    label,
    kind: 'stack',
    values: data.map((each) => each[name]),
    summary: number(total[name]),
    ...drawn,
  });
  const latency = (
    name: 'p50' | 'p95' | 'p99',
    label: string,
    drawn: Omit<Series, 'label' | 'values' | 'summary'>,
  ): Series => ({
    label,
    values: data.map(({ latency_ms: ms }) => ms?.[name] ?? null),
    summary: total.latency_ms === null ? '–' : formatDuration(total.latency_ms[name], language),
    ...drawn,
  });
  const series = useMemo(
    () => ({
      outcomes: [
        count('delivered', t('overview.delivered'), { tone: 'good' }),
        count('retried', t('overview.retried'), { tone: 'busy', dash: 'dashed' }),
        count('dlq', t('overview.dlq'), { tone: 'bad' }),
        count('failed', t('overview.no-retry'), { tone: 'bad', dash: 'dashed' }),
      ],
      latency: [
        latency('p50', 'p50', { tone: 'accent', kind: 'line' }),
        latency('p95', 'p95', { tone: 'busy', kind: 'line', dash: 'dashed' }),
        latency('p99', 'p99', { tone: 'bad', kind: 'line', dash: 'dotted' }),
      ],
    }),
    [data, total, language],
  );
  const shared = { startsMs, windowMs: windowMsOf(window), cursorKey: CURSOR, onRange };
  return (
    <section aria-label={t('overview.range')}>
      <PlotsNote />
      <div className="plots">
        <Plot {...shared} title={t('overview.outcomes')} series={series.outcomes} />
        <Plot
          {...shared}
          title={t('overview.latency')}
          series={series.latency}
          format={(ms) => formatDuration(ms, language)}
        />
      </div>
    </section>
  );
}

/** How to use the plots. */
export function PlotsNote(): ReactNode {
  return (
    <p className="quiet">
      {t('overview.drag')} {t('overview.window-note')}
    </p>
  );
}
