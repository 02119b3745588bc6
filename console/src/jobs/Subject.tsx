import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { ResourceName } from '../session/ResourceName';
import type { Job } from './job-queries';

/** Name of the resource that a job is about. */
export function Subject({ of: { endpoint } }: { of: Pick<Job, 'endpoint'> }): ReactNode {
  return endpoint === null ? t('jobs.filter') : <ResourceName id={endpoint} />;
}
