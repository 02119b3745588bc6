import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { OutcomePlots } from '../kit/plot/OutcomePlots';
import { windowMsOf } from '../kit/plot/range';
import type { Overview } from './overview-queries';

/** Outcomes of attempts over time, and their latency. */
export function Plots({
  of: { data, total, window },
  onRange,
}: {
  of: Overview;
  onRange: (fromMs: number, toMs: number) => void;
}): ReactNode {
  return (
    <section aria-label={t('overview.range')}>
      <PlotsNote />
      <OutcomePlots
        windows={data}
        windowMs={windowMsOf(window)}
        latency={total.latency_ms}
        cursorKey="overview"
        onRange={onRange}
      />
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
