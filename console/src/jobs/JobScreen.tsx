import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { Confirm } from '../kit/dialog/Confirm';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { Progress } from '../kit/Progress';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { ResourceName } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { describeKind } from './job-kind';
import { isActive, type Job, useJob } from './job-queries';
import { Subject } from './Subject';

const PARTS: readonly SkeletonPart[] = ['title', 'text', 'heading', ['facts', 6]];

/** One job: its request, progress and result. */
export function JobScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/jobs/$id' });
  const { environment: env, can } = useSigned();
  const { data, error } = useJob(id);
  return (
    <div className="page">
      <title>{`${data === undefined ? id : describeKind(data)} · Posthorn`}</title>
      <Crumbs to={`/${env}/jobs`} label={t('nav.jobs')} />
      <PageState name={id} isLoaded={data !== undefined} fault={error} parts={PARTS} />
      {data && (
        <>
          <div className="heading">
            <h1>{describeKind(data)}</h1>
            <Status of={data.state} />
            {isActive(data) &&
              !data.stop_requested &&
              (can('write') ? <Stop id={data.id} /> : <span className="quiet">{t('needs-write')}</span>)}
          </div>
          {isActive(data) && data.stop_requested && <p className="why">{t('jobs.stopping')}</p>}
          {data.error !== null && (
            <p className="fault">
              {t('jobs.error')} {data.error}
            </p>
          )}
          <div role="status">
            <Progress
              done={data.scanned}
              of={data.state === 'completed' ? data.scanned : data.total_estimate}
              label={
                data.state === 'completed'
                  ? t('jobs.progress-done', { scanned: data.scanned, total: data.scanned })
                  : t('jobs.progress-of', { scanned: data.scanned, total: data.total_estimate })
              }
            />
          </div>
          {data.resumed_from !== null && <p className="quiet">{t('jobs.resumed', { count: data.resumed_from })}</p>}
          <Outcome of={data} />
          <Asked of={data} />
        </>
      )}
    </div>
  );
}

function Stop({ id }: { id: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const stop = async (): Promise<void> => {
    queries.setQueryData(
      ['job', env, id],
      await answered(api.POST('/v1/replays/{id}/stop', { params: { path: { id } } })),
    );
    await queries.invalidateQueries({ queryKey: ['jobs', env] });
  };
  return (
    <>
      <button type="button" onClick={() => setAsked(true)}>
        {t('jobs.stop')}
      </button>
      {isAsked && (
        <Confirm
          title={t('jobs.stop')}
          action={t('jobs.stop')}
          isDangerous
          success={t('jobs.stop-requested')}
          onConfirm={stop}
          onClose={() => setAsked(false)}
        >
          <p>
            {t('jobs.stop-text')} <strong>{t(`environment.${env}`)}</strong>.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** Results of the job so far. */
function Outcome({ of }: { of: Job }): ReactNode {
  const counts = [
    ['jobs.scanned', of.scanned],
    ['jobs.replayed', of.replayed],
    ['jobs.enqueued', of.enqueued],
    ['jobs.skipped', of.skipped],
    ['jobs.excluded', of.excluded],
  ] as const;
  const { erased, cancelled } = of as Job & { cancelled?: number | null };
  return (
    <dl className="facts">
      {cancelled != null && (
        <div>
          <dt>{t('jobs.cancelled')}</dt>
          <dd>{t('jobs.number', { count: cancelled })}</dd>
        </div>
      )}
      {erased === null ? (
        counts.map(([label, count]) => (
          <div key={label}>
            <dt>{t(label)}</dt>
            <dd>{t('jobs.number', { count })}</dd>
          </div>
        ))
      ) : (
        <div>
          <dt>{t('jobs.erased')}</dt>
          <dd>{t('jobs.erased-of', { ...erased })}</dd>
        </div>
      )}
    </dl>
  );
}

/** The request that created the job. */
function Asked({ of }: { of: Job }): ReactNode {
  // Only jobs on filtered events have a filter.
  const { filter } = of as Job & { filter?: Record<string, unknown> | null };
  return (
    <dl className="facts">
      <div>
        <dt>{t('column.id')}</dt>
        <dd>
          <code>{of.id}</code> <CopyButton text={of.id} />
        </dd>
      </div>
      {of.endpoint !== null && (
        <div>
          <dt>{t('jobs.about')}</dt>
          <dd>
            <Subject of={of} />
          </dd>
        </div>
      )}
      <div>
        <dt>{t('jobs.window')}</dt>
        <dd>
          {of.since === null && of.until === null && t('jobs.window-open')}
          {of.since && (
            <>
              {t('jobs.from')} <Time at={of.since} />{' '}
            </>
          )}
          {of.until && (
            <>
              {t('jobs.to')} <Time at={of.until} />
            </>
          )}
        </dd>
      </div>
      {filter != null && (
        <div>
          <dt>{t('jobs.filter')}</dt>
          <dd>
            {Object.entries(filter).map(([name, value]) => (
              <div key={name}>
                <code>
                  {name}={String(value)}
                </code>
              </div>
            ))}
          </dd>
        </div>
      )}
      {of.status !== null && (
        <div>
          <dt>{t('jobs.status')}</dt>
          <dd>
            <Status of={of.status} />
          </dd>
        </div>
      )}
      {of.destinations_used.length > 0 && (
        <div>
          <dt>{t('jobs.destinations')}</dt>
          <dd>
            {of.destinations_used.map((id) => (
              <div key={id}>
                <ResourceName id={id} />
              </div>
            ))}
          </dd>
        </div>
      )}
      <div>
        <dt>{t('jobs.replay-id')}</dt>
        <dd>
          <code>{of.replay_id}</code>
        </dd>
      </div>
      <div>
        <dt>{t('jobs.begun')}</dt>
        <dd>
          <Time at={of.created_at} />
        </dd>
      </div>
      {of.started_at && (
        <div>
          <dt>{t('jobs.started')}</dt>
          <dd>
            <Time at={of.started_at} />
          </dd>
        </div>
      )}
      {of.finished_at && (
        <div>
          <dt>{t('jobs.finished')}</dt>
          <dd>
            <Time at={of.finished_at} />
          </dd>
        </div>
      )}
    </dl>
  );
}
