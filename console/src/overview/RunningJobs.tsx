import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t, word } from '../kit/messages/t';
import { Progress } from '../kit/Progress';
import { useSigned } from '../session/session';
import type { Job } from './overview-queries';

/** Running jobs, with their progress. */
export function RunningJobs({ jobs }: { jobs: readonly (Job & { action?: string | null })[] }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <section aria-labelledby="running-jobs">
      <h2 id="running-jobs">{t('overview.jobs')}</h2>
      {jobs.length === 0 && <p className="quiet">{t('overview.jobs-none')}</p>}
      {jobs.length > 0 && (
        <ul className="running">
          {jobs.map(({ id, kind, action, scanned, total_estimate: total }) => (
            <li key={id}>
              <Link to="/$env/jobs/$id" params={{ env, id }}>
                {word('job', action ? `${kind}.${action}` : kind)}
              </Link>{' '}
              <Progress done={scanned} of={total} label={t('jobs.progress-of', { scanned, total })} />
            </li>
          ))}
        </ul>
      )}
      <p>
        <Link to="/$env/jobs" params={{ env }}>
          {t('overview.jobs-all')}
        </Link>
      </p>
    </section>
  );
}
