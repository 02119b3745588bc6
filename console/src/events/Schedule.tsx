import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import { type EventDetail, useRetry } from './event-queries';
import { type ScheduleStep, stepsOf } from './schedule-steps';

/** Retry schedule of a delivery that is waiting for a retry or has become a dead letter. */
export function Schedule({ event }: { event: EventDetail }): ReactNode {
  const delivery = event.deliveries.findLast(({ status }) => status === 'retrying' || status === 'dlq');
  const retry = useRetry(event, delivery?.destination);
  if (delivery === undefined || retry === null) return null;
  const made = event.attempts.filter((attempt) => attempt.delivery === delivery.id).length;
  return (
    <>
      <h3 id="schedule">{t('schedule')}</h3>
      <ol className="schedule-steps" aria-labelledby="schedule">
        {stepsOf(retry, made, delivery.status === 'retrying').map(({ number, state, seconds }) => (
          <Step key={number} number={number} state={state} seconds={seconds} />
        ))}
      </ol>
    </>
  );
}

/** An attempt that was made is shown as failed: after a success, the schedule is not shown. */
const SIGNS = { made: '✕', next: '↻', ahead: '○' } as const;
const STATES = { made: 'timeline.schedule-failed', next: 'schedule.next', ahead: 'schedule.ahead' } as const;

function Step({ number, state, seconds }: ScheduleStep): ReactNode {
  const { language } = usePreferences();
  return (
    <li className={state} aria-current={state === 'next' ? 'step' : undefined}>
      <span aria-hidden="true">{SIGNS[state]}</span> <span>{t('schedule.step', { number })}</span>{' '}
      <span className="quiet">
        {seconds === 0
          ? t('schedule.at-once')
          : t('schedule.within', { time: formatDuration(seconds * 1000, language) })}
      </span>
      <span className="offscreen"> {t(STATES[state])}</span>
    </li>
  );
}
