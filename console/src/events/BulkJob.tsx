import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { Dialog } from '../kit/dialog/Dialog';
import { FaultLine } from '../kit/form/FaultLine';
import { formatCount } from '../kit/format-count';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { randomUuid } from '../kit/random-uuid';
import { useSigned } from '../session/session';
import type { EventQuery } from './event-filters';

interface BulkJobProps {
  action: 'replay' | 'recover' | 'cancel';
  /** Query at the time of the selection. Its end time excludes events that arrive later. */
  query: EventQuery;
  onClose: () => void;
  onBegun: () => void;
}

/** Parameters of a job for all matching events, at most 1,000,000. Omits canceled events. */
const EVERYTHING = { limit: 1_000_000, include_cancelled: false };

const LABELS = { replay: 'replay', recover: 'recover', cancel: 'cancel-waiting' } as const;

/** Dialog that starts a job on all matching events. Shows their number first, and a link to the job afterwards. */
export function BulkJob({ action, query, onClose, onBegun }: BulkJobProps): ReactNode {
  const { api, environment } = useSigned();
  const [key] = useState(randomUuid);
  const [job, setJob] = useState<string | null>(null);
  const counted = useQuery({
    queryKey: ['bulk', environment, action, query],
    staleTime: 0,
    gcTime: 0,
    queryFn: ({ signal }) =>
      answered(api.POST('/v1/replays', { body: { ...EVERYTHING, action, filter: query, dry_run: true }, signal })),
  });
  const count = counted.data !== undefined && 'count' in counted.data ? counted.data : undefined;
  const begin = async (): Promise<void> => {
    const begun = await answered(
      api.POST('/v1/replays', {
        body: { ...EVERYTHING, action, filter: query, dry_run: false },
        params: { header: { 'Idempotency-Key': key } },
      }),
    );
    if ('id' in begun) setJob(begun.id);
  };
  if (job !== null) return <Begun job={job} title={t(LABELS[action])} onClose={onBegun} />;
  return (
    <Confirm
      title={t(LABELS[action])}
      action={t(LABELS[action])}
      isDangerous={action === 'cancel'}
      onConfirm={begin}
      onClose={onClose}
      keepsOpen
      isOff={count === undefined || count.count === 0}
    >
      <FaultLine fault={counted.error} />
      {count === undefined && counted.error === null && <p role="status">{t('counting')}</p>}
      {count?.count === 0 && <p role="status">{t('bulk.nothing')}</p>}
      {count !== undefined && count.count > 0 && (
        <p role="status">
          {t(`bulk.${action}`, { count: formatCount(count) })}{' '}
          <strong>{t(environment === 'live' ? 'environment.live' : 'environment.test')}</strong>
        </p>
      )}
      <p className="quiet">{t('bulk.text')}</p>
    </Confirm>
  );
}

function Begun({ job, title, onClose }: { job: string; title: string; onClose: () => void }): ReactNode {
  const { environment: env } = useSigned();
  return (
    <Dialog title={title} onClose={onClose}>
      <p role="status">
        {t('bulk.begun')} <PathLink to={`/${env}/jobs/${job}`}>{t('bulk.open')}</PathLink>
      </p>
      <p className="actions">
        <button type="button" onClick={onClose}>
          {t('close')}
        </button>
      </p>
    </Dialog>
  );
}
