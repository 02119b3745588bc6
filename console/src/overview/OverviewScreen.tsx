import './overview.css';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { useBeat } from '../kit/beat';
import { FaultLines } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { eventsOf, RANGE_DEFAULT } from '../kit/plot/range';
import { RangeLinks } from '../kit/plot/RangeLinks';
import { useSigned } from '../session/session';
import { AttentionPanel } from './AttentionPanel';
import { FailingTargets } from './FailingTargets';
import { FirstSteps } from './FirstSteps';
import { areStepsOpen, keepStepsOpen } from './open-steps';
import { useFirstSteps, useOverview } from './overview-queries';
import { OverviewSkeleton } from './OverviewSkeleton';
import { Plots } from './Plots';
import { RunningJobs } from './RunningJobs';
import { Totals } from './Totals';

/**
 * Start screen: recent activity, problems, and running jobs. Shows the first steps if the environment has no events.
 */
export function OverviewScreen(): ReactNode {
  const { range = RANGE_DEFAULT } = useSearch({ from: '/$env/overview' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { overview, attention, targets, running, isLoading, tasks } = useOverview(range);
  const figures = overview.data;
  const isQuiet =
    figures !== undefined &&
    figures.total.received === 0 &&
    figures.total.attempts === 0 &&
    figures.waiting.count === 0;
  const [isBeginning, setBeginning] = useState(() => areStepsOpen(env));
  const [isOver, setOver] = useState(false);
  const first = useFirstSteps(!isOver && (isQuiet || isBeginning));
  if (!isBeginning && isQuiet && first.isKnown && first.event === null) setBeginning(true);
  const isFirst = isBeginning && !isOver;
  // Waits for all parts, because a part that appears later would move the parts below it.
  const isWaiting = !isFirst && (isLoading || (isQuiet && first.isLoading));
  useEffect(() => {
    if (isFirst) keepStepsOpen(env, true);
  }, [env, isFirst]);
  const close = (): void => {
    keepStepsOpen(env, false);
    setOver(true);
  };
  useBeat(isFirst ? [...first.tasks, ...tasks.slice(0, 2)] : tasks);
  const openEvents = (fromMs: number, toMs: number): void =>
    void navigate({ to: '/$env/events', params: { env }, search: eventsOf(fromMs, toMs) });
  return (
    <div className="overview page">
      <title>{`${t('nav.overview')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.overview')}</h1>
        {!isFirst && <RangeLinks chosen={range} />}
      </div>
      <FaultLines
        parts={[
          { name: t('overview.totals'), query: overview },
          { name: t('overview.attention'), query: attention },
          { name: t('overview.targets'), query: targets },
          { name: t('overview.jobs'), query: running },
        ].map(({ name, query: { data, error } }) => ({ name, fault: data === undefined ? error : null }))}
      />
      {isFirst && <FirstSteps destination={first.destination} event={first.event} onClose={close} />}
      {isWaiting && <OverviewSkeleton />}
      {figures && !isFirst && !isWaiting && <Totals of={figures} />}
      {!isWaiting && attention.data && (
        <AttentionPanel concerns={attention.data.data} truncated={attention.data.truncated} />
      )}
      {figures && !isFirst && !isWaiting && (
        <>
          <Plots of={figures} onRange={openEvents} />
          <div className="beside">
            {targets.data && <FailingTargets targets={targets.data.data} />}
            {running.data && <RunningJobs jobs={running.data.data} />}
          </div>
        </>
      )}
    </div>
  );
}
