import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { Progress } from '../kit/Progress';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { JOB_STATES, type JobState } from './job-filters';
import { describeKind } from './job-kind';
import { type Job, useJobs } from './job-queries';

/** Jobs on many events, with their progress and results. */
export function JobsScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/jobs' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useJobs(filters);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const choose = (state: string): void =>
    void navigate({ to: '/$env/jobs', params: { env }, search: state === '' ? {} : { state: state as JobState } });
  return (
    <div className="page">
      <title>{`${t('nav.jobs')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.jobs')}</h1>
        <label className="inline">
          {t('jobs.state')}
          <select value={filters.state ?? ''} onChange={(event) => choose(event.target.value)}>
            <option value="">{t('filter.any')}</option>
            {JOB_STATES.map((state) => (
              <option key={state} value={state}>
                {word('status', state)}
              </option>
            ))}
          </select>
        </label>
      </div>
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
      {data && rows.length === 0 && (
        <p className="empty" role="status">
          {t(filters.state === undefined ? 'jobs.none' : 'jobs.none-match')}
        </p>
      )}
      {rows.length > 0 && <JobTable rows={rows} />}
      {hasNextPage && (
        <p>
          <button type="button" onClick={() => void fetchNextPage()}>
            {t('more')}
          </button>
        </p>
      )}
    </div>
  );
}

function JobTable({ rows }: { rows: readonly Job[] }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={t('nav.jobs')}>
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">{t('jobs.kind')}</th>
            <th scope="col">{t('column.status')}</th>
            <th scope="col">{t('jobs.about')}</th>
            <th scope="col">{t('jobs.progress')}</th>
            <th scope="col">{t('jobs.begun')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((job) => {
            const { id, state, endpoint, scanned, total_estimate: total, created_at: at } = job;
            return (
              <tr key={id}>
                <td>
                  <Link to="/$env/jobs/$id" params={{ env, id }}>
                    {describeKind(job)}
                  </Link>
                </td>
                <td>
                  <Status of={state} />
                </td>
                <td>{endpoint === null ? t('jobs.filter') : <code>{endpoint}</code>}</td>
                <td>
                  <Progress
                    done={scanned}
                    of={state === 'completed' ? scanned : total}
                    label={t('jobs.progress-of', { scanned, total })}
                  />
                </td>
                <td>
                  <Time at={at} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
