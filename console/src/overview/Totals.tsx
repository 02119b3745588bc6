import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { serviceNowMs } from '../api/client';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { attemptsIn, failureRate, failuresIn } from '../kit/status/health';
import { formatAge, formatClock, formatDuration } from '../kit/time/format';
import { useSigned } from '../session/session';
import type { Overview } from './overview-queries';

/** Minimum share of failed attempts at which the success rate is highlighted. */
const FAILURES_MARKED_MIN = 0.01;

/** Success rate of the range, pending deliveries, and totals. Each figure links to its events. */
export function Totals({ of: { total, waiting, since } }: { of: Overview }): ReactNode {
  const { language } = usePreferences();
  const { environment: env } = useSigned();
  const number = (value: number): string => new Intl.NumberFormat(language).format(value);
  const failed = total.failed + total.dlq;
  const latency = total.latency_ms;
  return (
    <ul className="totals" aria-label={t('overview.totals')}>
      <SuccessRate of={total} />
      <Pending of={waiting} />
      <Total
        label={t('overview.failed')}
        value={number(failed)}
        below={t('overview.failed-of', { failed: total.failed, dlq: total.dlq })}
        {...(failed > 0 && { tone: 'bad' as const })}
        link={
          <Link
            to="/$env/events"
            params={{ env }}
            search={{ since, status: total.failed > total.dlq ? 'failed' : 'dlq' }}
          >
            {t('overview.failed')}
          </Link>
        }
      />
      <Total
        label={t('overview.accepted')}
        value={number(total.received)}
        below={t('overview.delivered-of', { count: total.delivered })}
        link={
          <Link to="/$env/events" params={{ env }} search={{ since }}>
            {t('overview.accepted')}
          </Link>
        }
      />
      <Total
        label={t('overview.latency')}
        value={latency === null ? '–' : formatDuration(latency.p95, language)}
        unit={latency === null ? '' : 'p95'}
        below={
          latency === null
            ? ' '
            : t('overview.half', {
                p50: formatDuration(latency.p50, language).replaceAll(' ', '\u00a0'),
                p99: formatDuration(latency.p99, language).replaceAll(' ', '\u00a0'),
              })
        }
      />
    </ul>
  );
}

/** Share of the range's attempts that succeeded. */
function SuccessRate({ of }: { of: Overview['total'] }): ReactNode {
  const { language } = usePreferences();
  const rate = failureRate(of);
  const share = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 });
  return (
    <Total
      label={t('overview.success-rate')}
      // Rounds down, so that 100 % means that no attempt failed.
      value={rate === null ? '–' : share.format(Math.floor((1 - rate) * 10_000) / 10_000)}
      below={
        rate === null
          ? t('overview.no-attempts')
          : t('overview.failed-attempts', { failed: failuresIn(of), count: attemptsIn(of) })
      }
      {...(rate !== null && { tone: rate < FAILURES_MARKED_MIN ? ('good' as const) : ('busy' as const) })}
    />
  );
}

/** Number of pending deliveries, with the age of the oldest one that is due. */
function Pending({ of }: { of: Overview['waiting'] }): ReactNode {
  const { language } = usePreferences();
  const { environment: env } = useSigned();
  const nowMs = serviceNowMs();
  const oldest = of.oldest_due_at;
  return (
    <Total
      label={t('overview.waiting')}
      value={t(of.is_capped ? 'overview.at-least' : 'count', { count: of.count })}
      below={
        oldest === null
          ? t('overview.none-due')
          : t('overview.oldest-since', {
              at: formatClock(oldest, nowMs, language),
              age: formatAge(oldest, nowMs, language),
            })
      }
      {...(of.count > 0 && { tone: 'busy' as const })}
      link={
        <Link to="/$env/events" params={{ env }} search={{ status: 'retrying' }}>
          {t('overview.waiting')}
        </Link>
      }
    />
  );
}

function Total({
  label,
  value,
  below,
  tone,
  unit,
  link,
}: {
  label: string;
  value: string;
  below: string;
  tone?: 'good' | 'bad' | 'busy';
  unit?: string;
  link?: ReactNode;
}): ReactNode {
  return (
    <li className="total">
      <span className="total-label">{link ?? label}</span>
      <span className={`total-value ${tone ?? ''}`}>
        {value} {unit !== undefined && unit !== '' && <small>{unit}</small>}
      </span>
      <span className="quiet">{below}</span>
    </li>
  );
}
