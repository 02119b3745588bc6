import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { Progress } from '../kit/Progress';
import { useSigned } from '../session/session';
import type { Job } from './overview-queries';

/** Running jobs, with their progress. */
export function RunningJobs({
  jobs,
  fault,
}: {
  jobs: readonly (Job & { action?: string | null })[] | undefined;
  fault: unknown;
}): ReactNode {
  const { environment: env } = useSigned();
  return (
    <section aria-labelledby="running-jobs">
      <h2 id="running-jobs">{t('overview.jobs')}</h2>
      <FaultLine fault={jobs === undefined ? fault : null} />
      {jobs?.length === 0 && <p className="quiet">{t('overview.jobs-none')}</p>}
      {jobs !== undefined && jobs.length > 0 && (
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
