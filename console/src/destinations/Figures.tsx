import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Plot } from '../kit/plot/Plot';
import { PlotSkeleton } from '../kit/plot/PlotSkeleton';
import type { Series } from '../kit/plot/series';
import { usePreferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import { useSigned } from '../session/session';
import { FIGURES, FIGURES_RANGES } from './destination-figures';
import { useFigures } from './destination-queries';

type Rollup = Schemas['RollupItem'];

/** Deliveries of a destination over time, and their latency. */
export function Figures({ id }: { id: string }): ReactNode {
  const { range = '24h' } = useSearch({ from: '/$env/destinations/$id' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending } = useFigures(id, range);
  const openEvents = (fromMs: number, toMs: number): void =>
    void navigate({
      to: '/$env/events',
      params: { env },
      search: { destination: id, since: new Date(fromMs).toISOString(), until: new Date(toMs).toISOString() },
    });
  return (
    <section aria-labelledby="figures">
      <div className="heading">
        <h2 id="figures">{t('destination.figures')}</h2>
        <nav className="actions" aria-label={t('overview.range')}>
          {FIGURES_RANGES.map((each) => (
            <Link
              key={each}
              to="/$env/destinations/$id"
              params={{ env, id }}
              search={{ range: each }}
              replace
              resetScroll={false}
              aria-current={each === range ? 'true' : undefined}
              className="button small"
            >
              {t(`overview.range.${each}`)}
            </Link>
          ))}
        </nav>
      </div>
      <FaultLine fault={data === undefined ? error : null} />
      {isPending && (
        <div className="plots">
          <PlotSkeleton />
          <PlotSkeleton />
        </div>
      )}
      {data && <FigurePlots rollups={data.data} windowMs={FIGURES[range].windowMs} onRange={openEvents} />}
    </section>
  );
}

function FigurePlots({
  rollups,
  windowMs,
  onRange,
}: {
  rollups: readonly Rollup[];
  windowMs: number;
  onRange: (fromMs: number, toMs: number) => void;
}): ReactNode {
  const { language } = usePreferences();
  const startsMs = useMemo(() => rollups.map(({ start }) => Date.parse(start)), [rollups]);
  const { ended, latency } = useMemo(() => {
    const counted = (
      label: string,
      of: (rollup: Rollup) => number,
      drawn: Pick<Series, 'tone' | 'kind' | 'dash'>,
    ): Series => {
      const values = rollups.map(of);
      return {
        label,
        values,
        summary: new Intl.NumberFormat(language).format(values.reduce((sum, value) => sum + value, 0)),
        ...drawn,
      };
    };
    const timed = (name: 'p50' | 'p95' | 'p99', label: string, drawn: Pick<Series, 'tone' | 'dash'>): Series => ({
      label,
      kind: 'line',
      values: rollups.map(({ latency_ms: ms }) => ms?.[name] ?? null),
      ...drawn,
    });
    return {
      ended: [
        counted(t('destination.delivered'), ({ delivered }) => delivered, { tone: 'good', kind: 'bars' }),
        counted(t('destination.failed'), ({ failed, dlq }) => failed + dlq, { tone: 'bad', kind: 'line' }),
        counted(t('destination.retried'), ({ retried }) => retried, { tone: 'busy', kind: 'line', dash: 'dotted' }),
      ],
      latency: [
        timed('p50', 'p50', { tone: 'accent' }),
        timed('p95', 'p95', { tone: 'busy', dash: 'dashed' }),
        timed('p99', 'p99', { tone: 'bad', dash: 'dotted' }),
      ],
    };
  }, [rollups, language]);
  const shared = { startsMs, windowMs, cursorKey: 'destination', onRange };
  return (
    <div className="plots">
      <Plot {...shared} title={t('destination.ended')} series={ended} />
      <Plot
        {...shared}
        title={t('destination.latency')}
        series={latency}
        format={(ms) => formatDuration(ms, language)}
      />
    </div>
  );
}
