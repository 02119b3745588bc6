import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { OutcomePlots } from '../kit/plot/OutcomePlots';
import { PlotSkeleton } from '../kit/plot/PlotSkeleton';
import { eventsOf, RANGE_DEFAULT } from '../kit/plot/range';
import { RangeLinks } from '../kit/plot/RangeLinks';
import { useSigned } from '../session/session';
import { FIGURES } from './destination-figures';
import { useFigures } from './destination-queries';

/** Deliveries of a destination over time, and their latency. */
export function Figures({ id }: { id: string }): ReactNode {
  const { range = RANGE_DEFAULT } = useSearch({ from: '/$env/destinations/$id' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending } = useFigures(id, range);
  const openEvents = (fromMs: number, toMs: number): void =>
    void navigate({
      to: '/$env/events',
      params: { env },
      search: { destination: id, ...eventsOf(fromMs, toMs) },
    });
  return (
    <section aria-labelledby="figures">
      <div className="heading">
        <h2 id="figures">{t('destination.figures')}</h2>
        <RangeLinks chosen={range} />
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
