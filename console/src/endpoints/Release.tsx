import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { TimeField } from '../kit/time/TimeField';
import { useSigned } from '../session/session';

const STATES = ['quarantined', 'parked', 'transform_failed', 'dropped'] as const;

/**
 * Form that releases requests that were not routed: quarantined (wrong secret), parked (endpoint paused or transform
 * failed), or dropped by the transform.
 */
export function Release({ id }: { id: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const [status, setStatus] = useState<(typeof STATES)[number]>('quarantined');
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [counted, setCounted] = useState<Schemas['ReleaseDryRunResult'] | null>(null);
  const [job, setJob] = useState<Schemas['ReplayJobItem'] | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const changed = (): void => {
    setCounted(null);
    setJob(null);
  };
  const ask = async (isDry: boolean): Promise<void> => {
    setFault(null);
    changed();
    try {
      const body = { status, dry_run: isDry, ...(since !== '' && { since }), ...(until !== '' && { until }) };
      const result = await answered(api.POST('/v1/endpoints/{id}/requests/replay', { params: { path: { id } }, body }));
      if (isDry) setCounted(result as Schemas['ReleaseDryRunResult']);
      else setJob(result as Schemas['ReplayJobItem']);
    } catch (error) {
      setFault(error);
    }
  };
  return (
    <form
      className="stacked"
      onSubmit={(event) => {
        event.preventDefault();
        void ask(true);
      }}
    >
      <h2>{t('release')}</h2>
      <p className="quiet">{t('release.text')}</p>
      <div className="fields">
        <label>
          {t('request.became')}
          <select
            value={status}
            onChange={(event) => {
              setStatus(event.target.value as typeof status);
              changed();
            }}
          >
            {STATES.map((each) => (
              <option key={each} value={each}>
                {each === 'transform_failed' || each === 'dropped' ? t(`held.${each}`) : word('status', each)}
              </option>
            ))}
          </select>
        </label>
        <TimeField
          label={t('range-replay.since')}
          value={since}
          onChange={(value) => {
            setSince(value);
            changed();
          }}
        />
        <TimeField
          label={t('range-replay.until')}
          value={until}
          onChange={(value) => {
            setUntil(value);
            changed();
          }}
        />
      </div>
      <FaultLine fault={fault} />
      <p className="actions">
        <button type="submit">{t('dry-run')}</button>
      </p>
      <div role="status">
        {counted && (
          <p className="why">{t('release.counted', { count: counted.replayed, scanned: counted.scanned })}</p>
        )}
        {job && (
          <p className="why">
            {t('job-link.begun')} <PathLink to={`/${env}/jobs/${job.id}`}>{t('job-link.open')}</PathLink>
          </p>
        )}
      </div>
      {counted !== null && counted.replayed > 0 && (
        <p className="actions">
          <button type="button" className="primary" onClick={() => void ask(false)}>
            {t('release.start', { count: counted.replayed })}
          </button>
        </p>
      )}
    </form>
  );
}
