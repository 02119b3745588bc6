import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { sectionReference } from '../api/reference';
import { EmptyState } from '../kit/empty/EmptyState';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t, word } from '../kit/messages/t';
import { Progress } from '../kit/Progress';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { JOB_STATES, type JobState } from './job-filters';
import { describeKind } from './job-kind';
import { type Job, useJobs } from './job-queries';
import { Subject } from './Subject';

/** Jobs on many events, with their progress and results. */
export function JobsScreen(): ReactNode {
  const filters = useSearch({ from: '/$env/jobs' });
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useJobs(filters);
  const rows = data?.pages.flatMap((page) => page.data) ?? [];
  const isEmpty = data !== undefined && rows.length === 0 && filters.state === undefined;
  const choose = (state: string): void =>
    void navigate({ to: '/$env/jobs', params: { env }, search: state === '' ? {} : { state: state as JobState } });
  return (
    <div className="page">
      <title>{`${t('nav.jobs')} · Posthorn`}</title>
      <div className="heading">
        <h1>{t('nav.jobs')}</h1>
      </div>
      {!isEmpty && (
        <form className="filters" role="search" aria-label={t('filter')} onSubmit={(event) => event.preventDefault()}>
          <label>
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
        </form>
      )}
      {isPending && <ListSkeleton />}
      <FaultLine fault={error} />
      {data && rows.length === 0 && filters.state !== undefined && (
        <p className="empty" role="status">
          {t('jobs.none-match')}
        </p>
      )}
      {isEmpty && (
        <EmptyState
          icon="jobs"
          title={t('jobs.none')}
          action={{
            label: t('jobs.open-events'),
            onSelect: () => void navigate({ to: '/$env/events', params: { env }, search: {} }),
          }}
          docs={{ label: t('docs.api'), href: sectionReference('Replay') }}
        >
          {t('jobs.none-text')}
        </EmptyState>
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
  const columns: Column<Job>[] = [
    {
      id: 'kind',
      label: t('jobs.kind'),
      cell: (job) => (
        <Link to="/$env/jobs/$id" params={{ env, id: job.id }}>
          {describeKind(job)}
        </Link>
      ),
    },
    { id: 'status', label: t('column.status'), cell: ({ state }) => <Status of={state} /> },
    {
      id: 'about',
      label: t('jobs.about'),
      cell: (job) => <Subject of={job} />,
      full: ({ endpoint }) => endpoint ?? t('jobs.filter'),
      isFlexible: true,
    },
    {
      id: 'progress',
      label: t('jobs.progress'),
      cell: ({ state, scanned, total_estimate: total }) => (
        <Progress
          done={scanned}
          of={state === 'completed' ? scanned : total}
          label={
            state === 'completed'
              ? t('jobs.progress-done', { scanned, total: scanned })
              : t('jobs.progress-of', { scanned, total })
          }
        />
      ),
    },
    { id: 'begun', label: t('jobs.begun'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
  return <Table id="jobs" label={t('nav.jobs')} rows={rows} columns={columns} keyOf={({ id }) => id} />;
}
