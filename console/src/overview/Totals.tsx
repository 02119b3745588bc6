import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { serviceNowMs } from '../api/client';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { formatDistance, formatDuration } from '../kit/time/format';
import { useSigned } from '../session/session';
import type { Overview } from './overview-queries';

/** Totals of the range, and the number of waiting deliveries. Each number links to the matching events. */
export function Totals({ of: { total, waiting, since } }: { of: Overview }): ReactNode {
  const { language } = usePreferences();
  const { environment: env } = useSigned();
  const number = (value: number): string => new Intl.NumberFormat(language).format(value);
  const share = (value: number): string =>
    new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 2 }).format(value);
  const failed = total.failed + total.dlq;
  const latency = total.latency_ms;
  const oldest = waiting.oldest_due_at;
  return (
    <ul className="totals" aria-label={t('overview.totals')}>
      <Total
        label={t('overview.accepted')}
        value={number(total.received)}
        below={t('overview.attempts', { count: total.attempts })}
        link={
          <Link to="/$env/events" params={{ env }} search={{ since }}>
            {t('overview.accepted')}
          </Link>
        }
      />
      <Total
        label={t('overview.delivered')}
        value={number(total.delivered)}
        below={
          total.success_rate === null
            ? t('overview.none-ended')
            : t('overview.rate', { rate: share(total.success_rate) })
        }
        tone="good"
        link={
          <Link to="/$env/events" params={{ env }} search={{ since, status: 'delivered' }}>
            {t('overview.delivered')}
          </Link>
        }
      />
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
        label={t('overview.waiting')}
        value={waiting.is_capped ? t('overview.at-least', { count: waiting.count }) : number(waiting.count)}
        below={
          oldest === null
            ? t('overview.none-due')
            : t('overview.oldest-due', { since: formatDistance(oldest, serviceNowMs(), language) })
        }
        {...(waiting.count > 0 && { tone: 'busy' as const })}
        link={
          <Link to="/$env/events" params={{ env }} search={{ status: 'retrying' }}>
            {t('overview.waiting')}
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
                p50: formatDuration(latency.p50, language),
                p99: formatDuration(latency.p99, language),
              })
        }
      />
    </ul>
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
