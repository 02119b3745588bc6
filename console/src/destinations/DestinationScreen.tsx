import './destinations.css';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, serviceNowMs } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { Schedule } from '../kit/delivery/Schedule';
import { Confirm } from '../kit/dialog/Confirm';
import { SigningSecret } from '../kit/form/SigningSecret';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { RANGE_DEFAULT } from '../kit/plot/range';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { TargetHealth } from '../kit/status/TargetHealth';
import { formatDuration } from '../kit/time/format';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { CancelWaiting } from './CancelWaiting';
import { isHealthOfConsumers, useDestinationHealth, useHasPending } from './destination-health';
import { type DestinationDetail, useDestination, useFigures, useLastDeliveries } from './destination-queries';
import { DisableDestination } from './DisableDestination';
import { Figures } from './Figures';
import { LastDeliveries, LastError } from './LastDeliveries';
import { PullConsumers } from './PullConsumers';
import { Recover } from './Recover';
import { TestEvent } from './TestEvent';
import { useStatusChange } from './use-status-change';

const PARTS: readonly SkeletonPart[] = ['title', 'text', ['facts', 8], 'heading', ['rows', 3], 'heading', 'plots'];

/** One destination: its state, delivery settings and secret. */
export function DestinationScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/destinations/$id' });
  const { range = RANGE_DEFAULT } = useSearch({ from: '/$env/destinations/$id' });
  const { environment: env, can } = useSigned();
  const { data, error } = useDestination(id);
  // Starts all calls at once, so that the page is complete after one wait.
  useLastDeliveries(id);
  useFigures(id, range);
  return (
    <div className="page">
      <title>{`${data?.name ?? id} · Posthorn`}</title>
      <Crumbs to={`/${env}/destinations`} label={t('nav.destinations')}>
        <Link to="/$env/events" params={{ env }} search={{ destination: id }}>
          {t('destination.events')}
        </Link>
        {can('write') && (
          <Link to="/$env/send" params={{ env }} search={{ to: id }}>
            {t('send.title')}
          </Link>
        )}
      </Crumbs>
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && (
        <>
          <div className="heading">
            <h1>{data.name}</h1>
            <Actions of={data} />
          </div>
          <p className="destination-health">{isHealthOfConsumers(data) ? <PullConsumers /> : <Health of={data} />}</p>
          {data.circuit.state !== 'closed' && (
            <p className="why">
              {t('destination.circuit-open')} {data.circuit.opened_at && <Time at={data.circuit.opened_at} />}.{' '}
              {data.circuit.next_probe_at && (
                <>
                  {t(data.circuit.state === 'open' ? 'destination.probe-at' : 'destination.probe-now')}{' '}
                  <Time at={data.circuit.next_probe_at} />.
                </>
              )}
            </p>
          )}
          <Settings of={data} />
          <LastError id={data.id} />
          <LastDeliveries id={data.id} />
          <Figures id={data.id} />
          {data.type !== 'pull' && <Schedule retry={data.retry} />}
          {can('write') && data.type !== 'pull' && <TestEvent id={data.id} />}
          {can('write') && <Secret of={data} />}
        </>
      )}
    </div>
  );
}

function Health({ of }: { of: DestinationDetail }): ReactNode {
  const { health, pending } = useDestinationHealth(of);
  return <TargetHealth of={health} pending={pending} clock={serviceNowMs} />;
}

function Secret({ of: { id, name } }: { of: DestinationDetail }): ReactNode {
  const { api } = useSigned();
  const params = { path: { id } };
  return (
    <SigningSecret
      name={name}
      onRead={() => answered(api.GET('/v1/destinations/{id}/secret', { params }))}
      onRotate={(grace) =>
        answered(api.POST('/v1/destinations/{id}/secret/rotate', { params, body: { grace_seconds: grace } }))
      }
    />
  );
}

function Settings({ of }: { of: DestinationDetail }): ReactNode {
  const { language } = usePreferences();
  return (
    <dl className="facts">
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{of.id}</code> <CopyButton text={of.id} />
        </dd>
      </div>
      {of.url !== null && (
        <div>
          <dt>URL</dt>
          <dd>
            <code className="clamped" title={of.url}>
              {of.url}
            </code>{' '}
            <CopyButton text={of.url} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t('destination.type')}</dt>
        <dd>{of.type}</dd>
      </div>
      {of.url !== null && (
        <div>
          <dt>{t('destination.check')}</dt>
          <dd>
            <Status of={of.validation} kind="validation" />
          </dd>
        </div>
      )}
      <div>
        <dt>{t('destination.circuit')}</dt>
        <dd>
          <Status of={of.circuit.state} kind="circuit" />
        </dd>
      </div>
      <div>
        <dt>{t('destination.timeout')}</dt>
        <dd>{formatDuration(of.timeout_ms, language)}</dd>
      </div>
      <div>
        <dt>{t('destination.attempts')}</dt>
        <dd>{of.retry.max_attempts}</dd>
      </div>
      <div>
        <dt>{t('created')}</dt>
        <dd>
          <Time at={of.created_at} />
        </dd>
      </div>
    </dl>
  );
}

function Actions({ of }: { of: DestinationDetail }): ReactNode {
  const { can, api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const changeStatus = useStatusChange();
  const hasPending = useHasPending();
  const [asked, setAsked] = useState<'disable' | 'delete' | 'recover' | 'cancel' | null>(null);
  const [cancelled, setCancelled] = useState<number | null>(null);
  const params = { path: { id: of.id } };
  const isOn = of.status === 'active';
  if (!can('write')) return <span className="quiet">{t('needs-write')}</span>;
  const switchStatus = async (): Promise<void> => {
    if (isOn && (await hasPending(of.id))) setAsked('disable');
    else changeStatus(of);
  };
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/destinations/{id}', { params }));
    await navigate({ to: '/$env/destinations', params: { env } });
    queries.removeQueries({ queryKey: ['destination', env, of.id] });
    await queries.invalidateQueries({ queryKey: ['destinations', env] });
  };
  return (
    <span className="actions">
      <Link to="/$env/destinations/$id/edit" params={{ env, id: of.id }} className="button">
        {t('edit')}
      </Link>
      {of.type !== 'pull' && (
        <button type="button" onClick={() => setAsked('recover')}>
          {t('destination.recover')}
        </button>
      )}
      {of.type !== 'pull' && (
        <button type="button" onClick={() => setAsked('cancel')}>
          {t('destination.cancel')}
        </button>
      )}
      <button type="button" onClick={() => void switchStatus()}>
        {t(isOn ? 'disable' : 'enable')}
      </button>
      <button type="button" className="destructive" onClick={() => setAsked('delete')}>
        {t('delete')}
      </button>
      <span role="status" className="quiet">
        {cancelled === null ? '' : t('destination.cancelled', { count: cancelled })}
      </span>
      {asked === 'recover' && <Recover id={of.id} onClose={() => setAsked(null)} />}
      {asked === 'cancel' && (
        <CancelWaiting id={of.id} name={of.name} onDone={setCancelled} onClose={() => setAsked(null)} />
      )}
      {asked === 'disable' && <DisableDestination id={of.id} name={of.name} onClose={() => setAsked(null)} />}
      {asked === 'delete' && (
        <Confirm
          title={t('delete')}
          action={t('delete')}
          isDangerous
          typed={of.name}
          onConfirm={remove}
          onClose={() => setAsked(null)}
        >
          <p>{t('destination.delete')}</p>
        </Confirm>
      )}
    </span>
  );
}
