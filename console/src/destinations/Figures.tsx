import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { OutcomePlots } from '../kit/plot/OutcomePlots';
import { PlotSkeleton } from '../kit/plot/PlotSkeleton';
import { useSigned } from '../session/session';
import { FIGURES, FIGURES_RANGES } from './destination-figures';
import { useFigures } from './destination-queries';

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
        <nav className="ranges" aria-label={t('overview.range')}>
          {FIGURES_RANGES.map((each) => (
            <Link
              key={each}
              to="/$env/destinations/$id"
              params={{ env, id }}
              search={{ range: each }}
              replace
              resetScroll={false}
              aria-current={each === range ? 'true' : undefined}
              className="button"
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
      {data && (
        <OutcomePlots
          windows={data.data}
          windowMs={FIGURES[range].windowMs}
          cursorKey="destination"
          onRange={openEvents}
        />
      )}
    </section>
  );
}
