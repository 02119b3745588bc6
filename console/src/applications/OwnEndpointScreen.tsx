import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { answered, type Schemas, serviceNowMs } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Notes } from '../kit/form/EditNotes';
import { FaultLine } from '../kit/form/FaultLine';
import { SigningSecret } from '../kit/form/SigningSecret';
import { writeJson } from '../kit/json/read-json';
import { Skeleton, type SkeletonPart } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { TargetHealth } from '../kit/status/TargetHealth';
import { type Column, Table } from '../kit/table/Table';
import { formatDuration } from '../kit/time/format';
import { RelativeTime } from '../kit/time/RelativeTime';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type OwnEndpoint, useOwnEndpoint, useOwnEndpointHistory } from './application-queries';
import { useEndpointHealth } from './endpoint-health';
import { OwnEndpointActions } from './OwnEndpointActions';

/** Parts of the history, for its placeholder. */
const HISTORY: readonly SkeletonPart[] = ['heading', ['tiles', 5], 'heading', ['rows', 4]];

/** One endpoint of a customer: its state, its history, and actions such as resending failed events. */
export function OwnEndpointScreen(): ReactNode {
  const { id, endpoint } = useParams({ from: '/$env/applications/$id/endpoints/$endpoint' });
  const { environment: env, can } = useSigned();
  const { data, error, isPending } = useOwnEndpoint(id, endpoint);
  return (
    <>
      <p>
        <Link to="/$env/applications/$id/endpoints" params={{ env, id }}>
          ← {t('application.endpoints')}
        </Link>
      </p>
      {isPending && <Skeleton parts={['title', 'text', ['facts', 4], ...HISTORY]} />}
      <FaultLine fault={error} />
      {data && (
        <>
          <div className="heading">
            <h2 className="long clamped" title={data.url ?? data.destination ?? endpoint}>
              {data.url ?? data.destination}
            </h2>
            {can('write') && <OwnEndpointActions app={id} of={data} />}
          </div>
          <Health app={id} of={data} />
          {data.circuit !== null && data.circuit.state !== 'closed' && (
            <p className="why">
              {t('destination.circuit-open')} {data.circuit.opened_at && <Time at={data.circuit.opened_at} />}.
            </p>
          )}
          <Facts of={data} />
          <Notes of={data.metadata} />
          {can('write') && data.url !== null && <Secret app={id} of={data} />}
          <History app={id} endpoint={endpoint} />
        </>
      )}
    </>
  );
}

function Health({ app, of }: { app: string; of: OwnEndpoint }): ReactNode {
  const { health, pending } = useEndpointHealth(app, of);
  return (
    <p>
      <TargetHealth of={health} pending={pending} clock={serviceNowMs} />
    </p>
  );
}

function Secret({ app, of }: { app: string; of: OwnEndpoint }): ReactNode {
  const { api } = useSigned();
  const params = { path: { app, endpoint: of.id } };
  return (
    <SigningSecret
      name={of.url ?? of.id}
      onRead={() => answered(api.GET('/v1/app/{app}/endpoints/{endpoint}/secret', { params }))}
      onRotate={(grace) =>
        answered(
          api.POST('/v1/app/{app}/endpoints/{endpoint}/secret/rotate', { params, body: { grace_seconds: grace } }),
        )
      }
    />
  );
}

function Facts({ of }: { of: OwnEndpoint }): ReactNode {
  return (
    <dl className="facts">
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{of.id}</code> <CopyButton text={of.id} />
        </dd>
      </div>
      {of.uid !== null && (
        <div>
          <dt>{t('application.uid')}</dt>
          <dd>{of.uid}</dd>
        </div>
      )}
      {of.description !== '' && (
        <div>
          <dt>{t('own-endpoint.description')}</dt>
          <dd>{of.description}</dd>
        </div>
      )}
      <div>
        <dt>{t('own-endpoint.types')}</dt>
        <dd>{of.event_types.join(', ') || t('own-endpoint.all-types')}</dd>
      </div>
      {of.channels.length > 0 && (
        <div>
          <dt>{t('message.channels')}</dt>
          <dd>{of.channels.join(', ')}</dd>
        </div>
      )}
      {of.circuit !== null && (
        <div>
          <dt>{t('destination.circuit')}</dt>
          <dd>
            <Status of={of.circuit.state} kind="circuit" />
          </dd>
        </div>
      )}
      {of.filter !== null && (
        <div>
          <dt>{t('filter')}</dt>
          <dd>
            <pre tabIndex={0}>{writeJson(of.filter)}</pre>
          </dd>
        </div>
      )}
      <div>
        <dt>{t('created')}</dt>
        <dd>
          <Time at={of.created_at} />
        </dd>
      </div>
    </dl>
  );
}

function History({ app, endpoint }: { app: string; endpoint: string }): ReactNode {
  const { language } = usePreferences();
  const { stats, attempts, error } = useOwnEndpointHistory(app, endpoint);
  const number = new Intl.NumberFormat(language);
  if (error === null && (stats === undefined || attempts === undefined)) return <Skeleton parts={HISTORY} isSection />;
  return (
    <>
      <h2>{t('own-endpoint.day')}</h2>
      <FaultLine fault={error} />
      {stats && (
        <dl className="tiles">
          <div>
            <dt>{t('figure.sent')}</dt>
            <dd>{number.format(stats.received)}</dd>
          </div>
          <div>
            <dt>{t('figure.delivered')}</dt>
            <dd>{number.format(stats.delivered)}</dd>
          </div>
          <div className={stats.failed + stats.dlq > 0 ? 'bad' : ''}>
            <dt>{t('figure.failed')}</dt>
            <dd>
              {stats.failed + stats.dlq > 0 && <span aria-hidden="true">✕ </span>}
              {number.format(stats.failed + stats.dlq)}
            </dd>
          </div>
          <div>
            <dt>{t('figure.waiting')}</dt>
            <dd>
              {number.format(stats.waiting.count)}
              {stats.waiting.is_capped && '+'}
            </dd>
          </div>
          <div>
            <dt>{t('delivery.next')}</dt>
            <dd>{stats.next_attempt_at === null ? '–' : <Time at={stats.next_attempt_at} />}</dd>
          </div>
        </dl>
      )}
      <h2>{t('attempts')}</h2>
      {attempts?.length === 0 && <p className="quiet">{t('attempts.none')}</p>}
      {attempts !== undefined && attempts.length > 0 && <Attempts of={attempts} />}
    </>
  );
}

function Attempts({ of }: { of: readonly Schemas['EndpointAttemptItem'][] }): ReactNode {
  const { environment: env } = useSigned();
  const { language } = usePreferences();
  const columns: Column<(typeof of)[number]>[] = [
    {
      id: 'at',
      label: t('message.sent'),
      cell: ({ event_id: id, at }) => (
        <PathLink to={`/${env}/events/${id}`}>
          <RelativeTime at={at} />
        </PathLink>
      ),
    },
    {
      id: 'answer',
      label: t('attempt.answer'),
      cell: ({ status, error }) => {
        const isGood = status !== null && status < 300;
        return (
          <span className={`status ${isGood ? 'good' : 'bad'}`}>
            <span aria-hidden="true">{isGood ? '✓' : '✕'}</span>{' '}
            {status === null ? word('error', error ?? 'connection') : `HTTP ${status}`}
          </span>
        );
      },
    },
    { id: 'type', label: t('column.type'), cell: ({ event_type: type }) => type, isFlexible: true },
    {
      id: 'number',
      label: t('own-endpoint.attempt'),
      cell: ({ number, replayed }) => (
        <>
          {number}
          {replayed && <span className="tag">{t('replayed')}</span>}
        </>
      ),
    },
    {
      id: 'took',
      label: t('own-endpoint.took'),
      cell: ({ duration_ms: ms }) => formatDuration(ms, language),
      isNumeric: true,
    },
  ];
  return (
    <Table
      id="own-endpoint-attempts"
      label={t('attempts')}
      rows={of}
      columns={columns}
      keyOf={({ delivery, number }) => `${delivery} ${number}`}
    />
  );
}
