import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered, type Schemas } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { useSigned } from '../session/session';
import { useSetAside } from './endpoint-queries';

const STATES = ['transform_failed', 'dropped'] as const;

/** Requests for which the transform failed or dropped the event. Buttons run the saved transform on them again. */
export function TransformHeld({ id, isChanged }: { id: string; isChanged: boolean }): ReactNode {
  const { environment: env } = useSigned();
  const [job, setJob] = useState<string | null>(null);
  return (
    <section className="held" aria-labelledby="held">
      <h2 id="held">{t('held.title')}</h2>
      <p className="quiet">{t('held.text')}</p>
      <ul>
        {STATES.map((state) => (
          <Held key={state} id={id} state={state} isChanged={isChanged} onStarted={setJob} />
        ))}
      </ul>
      <div role="status">
        {job !== null && (
          <p className="why">
            {t('job-link.begun')} <PathLink to={`/${env}/jobs/${job}`}>{t('job-link.open')}</PathLink>
          </p>
        )}
      </div>
    </section>
  );
}

/** Props of `Held`. */
interface HeldProps {
  id: string;
  state: (typeof STATES)[number];
  /** Whether the editor has unsaved changes. A release does not use unsaved changes. */
  isChanged: boolean;
  onStarted: (job: string) => void;
}

function Held({ id, state, isChanged, onStarted }: HeldProps): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [isAsked, setAsked] = useState(false);
  const { data, error } = useSetAside(id, state);
  const count = data?.replayed ?? 0;
  const release = async (): Promise<void> => {
    const started = await answered(
      api.POST('/v1/endpoints/{id}/requests/replay', {
        params: { path: { id } },
        body: { status: state, dry_run: false },
      }),
    );
    onStarted((started as Schemas['ReplayJobItem']).id);
    await queries.invalidateQueries({ queryKey: ['set-aside', env, id] });
  };
  return (
    <li>
      <span>
        {t(`held.${state}`)}: <strong>{data === undefined ? '…' : t('held.count', { count })}</strong>
      </span>
      {count > 0 && (
        <button type="button" className="small" onClick={() => setAsked(true)}>
          {t(state === 'dropped' ? 'held.release-dropped' : 'held.release-failed', { count })}
        </button>
      )}
      <FaultLine fault={error} />
      {isAsked && (
        <Confirm
          title={t('held.confirm-title')}
          action={t('release.start', { count })}
          onConfirm={release}
          onClose={() => setAsked(false)}
        >
          <p>{t('held.confirm', { count })}</p>
          {isChanged && <p className="why">{t('held.unsaved')}</p>}
        </Confirm>
      )}
    </li>
  );
}
