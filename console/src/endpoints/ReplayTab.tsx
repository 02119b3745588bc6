import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { TimeField } from '../kit/time/TimeField';
import { Name } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { useEndpoint } from './endpoint-queries';
import { Release } from './Release';

type DryRun = Schemas['DryRunResult'];
type Job = Schemas['ReplayJobItem'];
const STATUSES = ['delivered', 'failed', 'retrying', 'dlq', 'ignored'] as const;

/**
 * Form that replays the events of a time range, or releases held requests for delivery. First shows the number of
 * affected events, and finally the job.
 */
export function ReplayTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { can } = useSigned();
  if (!can('write')) return <p>{t('needs-write')}</p>;
  return (
    <>
      <RangeReplay id={id} />
      <Release id={id} />
    </>
  );
}

function RangeReplay({ id }: { id: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [status, setStatus] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [counted, setCounted] = useState<DryRun | null>(null);
  const [job, setJob] = useState<Job | null>(null);
  const [fault, setFault] = useState<unknown>(null);
  const [isAsked, setAsked] = useState(false);
  const params = { path: { id } };
  const body = {
    ...(since !== '' && { since }),
    ...(until !== '' && { until }),
    ...(status !== '' && { status: status as (typeof STATUSES)[number] }),
    ...(chosen.length > 0 && { destinations: [...chosen] }),
  };
  const changed = (): void => {
    setCounted(null);
    setJob(null);
  };
  const count = (): void => {
    setFault(null);
    changed();
    answered(api.POST('/v1/endpoints/{id}/replay', { params, body: { ...body, dry_run: true } })).then(
      (result) => setCounted(result as DryRun),
      setFault,
    );
  };
  const start = async (): Promise<void> => {
    setJob(
      (await answered(api.POST('/v1/endpoints/{id}/replay', { params, body: { ...body, dry_run: false } }))) as Job,
    );
    setCounted(null);
  };
  return (
    <section>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          count();
        }}
      >
        <h2>{t('range-replay')}</h2>
        <p className="quiet">{t('range-replay.text')}</p>
        <div className="fields">
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
          <label>
            {t('filter.status')}
            <select
              value={status}
              onChange={(event) => {
                setStatus(event.target.value);
                changed();
              }}
            >
              <option value="">{t('filter.any')}</option>
              {STATUSES.map((each) => (
                <option key={each} value={each}>
                  {word('status', each)}
                </option>
              ))}
            </select>
          </label>
        </div>
        <ChosenDestinations
          id={id}
          chosen={chosen}
          onChoose={(value) => {
            setChosen(value);
            changed();
          }}
        />
        <FaultLine fault={fault} />
        <p className="actions">
          <button type="submit">{t('dry-run')}</button>
        </p>
        <div role="status">
          {counted && (
            <p className="why">
              {t('range-replay.counted', {
                replayed: counted.replayed,
                scanned: counted.scanned,
                enqueued: counted.enqueued,
                excluded: counted.excluded,
              })}
              {counted.next_cursor !== null && ` ${t('range-replay.more')}`}
            </p>
          )}
          {job && (
            <p className="why">
              {t('job-link.begun')} <PathLink to={`/${env}/jobs/${job.id}`}>{t('job-link.open')}</PathLink>
            </p>
          )}
        </div>
        {counted !== null && counted.replayed > 0 && (
          <p className="actions">
            <button type="button" className="primary" onClick={() => setAsked(true)}>
              {t('range-replay.start', { count: counted.replayed })}
            </button>
          </p>
        )}
      </form>
      {isAsked && counted && (
        <Confirm
          title={t('range-replay')}
          action={t('range-replay.start', { count: counted.replayed })}
          onConfirm={start}
          onClose={() => setAsked(false)}
        >
          <p>
            {t('range-replay.confirm', { count: counted.enqueued })}{' '}
            <strong>{t(env === 'live' ? 'environment.live' : 'environment.test')}</strong>.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function ChosenDestinations({
  id,
  chosen,
  onChoose,
}: {
  id: string;
  chosen: readonly string[];
  onChoose: (chosen: readonly string[]) => void;
}): ReactNode {
  const { data: endpoint } = useEndpoint(id);
  const destinations = endpoint?.destinations ?? [];
  if (destinations.length < 2) return null;
  return (
    <fieldset className="checks">
      <legend>{t('range-replay.destinations')}</legend>
      {destinations.map((each) => (
        <label key={each} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(each)}
            onChange={(event) =>
              onChoose(event.target.checked ? [...chosen, each] : chosen.filter((other) => other !== each))
            }
          />{' '}
          <Name id={each} />
        </label>
      ))}
      <p className="quiet">{t('range-replay.destinations-hint')}</p>
    </fieldset>
  );
}
