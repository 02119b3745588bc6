import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { Skeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { OutcomePlots } from '../kit/plot/OutcomePlots';
import { eventsOf, RANGE_DEFAULT, windowMsOf } from '../kit/plot/range';
import { RangeLinks } from '../kit/plot/RangeLinks';
import { usePreferences } from '../kit/preferences';
import { formatDuration } from '../kit/time/format';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { useApplication, useApplicationOverview } from './application-queries';

/** Messages sent to an application, and the results of their deliveries. */
export function FiguresTab(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { range = RANGE_DEFAULT } = useSearch({ from: '/$env/applications/$id/' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const openEvents = (fromMs: number, toMs: number): void =>
    void navigate({
      to: '/$env/events',
      params: { env },
      search: { application: id, ...eventsOf(fromMs, toMs) },
    });
  const { data: application } = useApplication(id);
  const { data, error, isPending } = useApplicationOverview(id, range);
  return (
    <>
      <div className="heading">
        <h2>{t('application.figures')}</h2>
        <RangeLinks chosen={range} />
      </div>
      {isPending && <Skeleton parts={[['tiles', 5], 'plots']} />}
      <FaultLine fault={error} />
      {data && <Totals of={data} id={id} />}
      {data && (
        <OutcomePlots
          windows={data.data}
          windowMs={windowMsOf(data.window)}
          latency={data.total.latency_ms}
          cursorKey="application"
          onRange={openEvents}
        />
      )}
      {application && (
        <dl className="facts">
          <div>
            <dt>{t('application.endpoints')}</dt>
            <dd>{application.endpoint_count}</dd>
          </div>
          <div>
            <dt>{t('created')}</dt>
            <dd>
              <Time at={application.created_at} />
            </dd>
          </div>
          {Object.entries(application.metadata).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </>
  );
}

function Totals({ of: { total, waiting }, id }: { of: Schemas['OverviewItem']; id: string }): ReactNode {
  const { environment: env } = useSigned();
  const { language } = usePreferences();
  const number = new Intl.NumberFormat(language);
  return (
    <dl className="tiles">
      <div>
        <dt>{t('figure.sent')}</dt>
        <dd>{number.format(total.received)}</dd>
      </div>
      <div>
        <dt>{t('figure.delivered')}</dt>
        <dd>{number.format(total.delivered)}</dd>
      </div>
      <div className={total.failed + total.dlq > 0 ? 'bad' : ''}>
        <dt>{t('figure.failed')}</dt>
        <dd>
          {total.failed + total.dlq > 0 && <span aria-hidden="true">✕ </span>}
          {total.failed + total.dlq === 0 ? (
            0
          ) : (
            <PathLink to={`/${env}/events`} search={{ application: id, status: 'dlq,failed' }}>
              {number.format(total.failed + total.dlq)}
            </PathLink>
          )}
        </dd>
      </div>
      <div>
        <dt>{t('figure.waiting')}</dt>
        <dd>
          {number.format(waiting.count)}
          {waiting.is_capped && '+'}
        </dd>
      </div>
      <div className="long">
        <dt>{t('figure.latency')}</dt>
        <dd>
          {total.latency_ms
            ? `${formatDuration(total.latency_ms.p50, language)} / ${formatDuration(total.latency_ms.p95, language)}`
            : '–'}
        </dd>
      </div>
    </dl>
  );
}
