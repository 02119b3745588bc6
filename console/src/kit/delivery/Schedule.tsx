import './delivery.css';
import type { ReactNode } from 'react';
import { t } from '../messages/t';
import { usePreferences } from '../preferences';
import { formatDuration } from '../time/format';
import { type Step, stepsOf } from './schedule';

/** Maximum number of attempts in the drawing. Text describes further attempts. */
const DRAWN_MAX = 12;

/** Retry attempts on a time line. `isDraft` omits the heading, for use in the form that edits the schedule. */
export function Schedule({
  retry,
  isDraft = false,
}: {
  retry: { schedule: readonly number[]; max_attempts: number };
  isDraft?: boolean;
}): ReactNode {
  const { language } = usePreferences();
  const format = (seconds: number): string => formatDuration(seconds * 1_000, language);
  const steps = stepsOf(retry);
  const hidden = steps.length - DRAWN_MAX;
  const line = (
    <ol className="timeline">
      {steps.slice(0, DRAWN_MAX).map((step) => (
        <Stop key={step.attempt} step={step} format={format} />
      ))}
      {hidden > 0 && (
        <li className="rest">
          <span className="quiet">
            {t('destination.attempts-more', { count: hidden, wait: format(steps.at(-1)?.waitSeconds ?? 0) })}
          </span>
        </li>
      )}
    </ol>
  );
  if (isDraft) return line;
  return (
    <section aria-labelledby="schedule">
      <h2 id="schedule">{t('destination.timeline')}</h2>
      <p className="quiet">{t('destination.timeline-text')}</p>
      {line}
    </section>
  );
}

function Stop({
  step: { attempt, waitSeconds, afterSeconds },
  format,
}: {
  step: Step;
  format: (seconds: number) => string;
}): ReactNode {
  return (
    <li>
      <strong>{t('attempt', { number: attempt })}</strong>
      <span>
        {afterSeconds === 0
          ? t('destination.attempt-first')
          : t('destination.attempt-after', { after: format(afterSeconds) })}
      </span>
      {waitSeconds > 0 && <span className="quiet">{t('destination.attempt-wait', { wait: format(waitSeconds) })}</span>}
    </li>
  );
}
