import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { TimeField } from '../kit/time/TimeField';
import { useSigned } from '../session/session';

/** Form that resends a customer's events since a given time, either all of them or only the failed ones. */
export function RepairTab(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { can } = useSigned();
  if (!can('write')) return <p>{t('needs-write')}</p>;
  return (
    <>
      <Repair id={id} act="recover" />
      <Repair id={id} act="replay" />
    </>
  );
}

function Repair({ id, act }: { id: string; act: 'recover' | 'replay' }): ReactNode {
  const { api, environment: env } = useSigned();
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [isCancelledToo, setCancelledToo] = useState(false);
  const [isAsked, setAsked] = useState(false);
  const [job, setJob] = useState<string | null>(null);
  const title = t(`repair.${act}`);
  const start = async (): Promise<void> => {
    const body = { since, ...(until !== '' && { until }) };
    const params = { path: { app: id } };
    const made =
      act === 'recover'
        ? await answered(
            api.POST('/v1/app/{app}/recover', { params, body: { ...body, include_cancelled: isCancelledToo } }),
          )
        : await answered(api.POST('/v1/app/{app}/replay', { params, body }));
    setJob(made.id);
  };
  return (
    <section>
      <form
        className="stacked"
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault();
          setJob(null);
          setAsked(true);
        }}
      >
        <h2>{title}</h2>
        <p className="quiet">{t(`repair.${act}-text`)}</p>
        <div className="fields">
          <TimeField label={t('range-replay.since')} value={since} onChange={setSince} isRequired />
          <TimeField label={t('range-replay.until')} value={until} onChange={setUntil} />
          {act === 'recover' && (
            <label className="check">
              <input
                type="checkbox"
                checked={isCancelledToo}
                onChange={(event) => setCancelledToo(event.target.checked)}
              />{' '}
              {t('repair.cancelled-too')}
            </label>
          )}
          <button type="submit">{title}</button>
        </div>
        <p role="status">
          {job !== null && (
            <>
              {t('job-link.begun')} <PathLink to={`/${env}/jobs/${job}`}>{t('job-link.open')}</PathLink>
            </>
          )}
        </p>
      </form>
      {isAsked && (
        <Confirm title={title} action={title} onConfirm={start} onClose={() => setAsked(false)}>
          <p>
            {t(`repair.${act}-text`)} {t('repair.in')}{' '}
            <strong>{t(env === 'live' ? 'environment.live' : 'environment.test')}</strong>.
          </p>
        </Confirm>
      )}
    </section>
  );
}
