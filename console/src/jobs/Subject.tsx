import type { ReactNode } from 'react';
import { t } from '../kit/messages/t';
import { ResourceName } from '../session/ResourceName';
import type { Job } from './job-queries';

/** Name of the resource that a job is about. Its id, if it is an endpoint of an application. */
export function Subject({ of: { kind, endpoint } }: { of: Pick<Job, 'kind' | 'endpoint'> }): ReactNode {
  if (endpoint === null) return t('jobs.filter');
  // Of the ids that begin with `ep_`, only those of these jobs are ids of inbound endpoints.
  const isInbound = endpoint.startsWith('ep_') && (kind === 'range' || kind === 'requests');
  return <ResourceName id={endpoint} {...(isInbound && { kind: 'endpoint' })} />;
}
