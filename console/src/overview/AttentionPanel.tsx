import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { serviceNowMs } from '../api/client';
import { FaultLine } from '../kit/form/FaultLine';
import { t, word } from '../kit/messages/t';
import { usePlaceOf } from '../kit/places';
import { Since } from '../kit/time/Since';
import { useSigned } from '../session/session';
import { placeOfConcern } from './concern-place';
import type { Concern } from './overview-queries';

/** Current problems, each with its start time and a link to the affected resource. */
export function AttentionPanel({
  concerns,
  truncated,
  fault,
}: {
  concerns: readonly Concern[] | undefined;
  truncated: readonly string[];
  fault: unknown;
}): ReactNode {
  return (
    <section className="attention" aria-labelledby="attention">
      <h2 id="attention">
        {t('overview.attention')}{' '}
        {concerns !== undefined && concerns.length > 0 && <span className="tag">{concerns.length}</span>}
      </h2>
      <FaultLine fault={concerns === undefined ? fault : null} />
      {concerns?.length === 0 && (
        <p className="all-well">
          <span className="status good">
            <span aria-hidden="true">✓</span> {t('overview.all-well')}
          </span>
        </p>
      )}
      {concerns !== undefined && concerns.length > 0 && (
        <ul className="concerns">
          {concerns.map((concern) => (
            <ConcernRow key={`${concern.type} ${concern.subject}`} of={concern} />
          ))}
        </ul>
      )}
      {truncated.length > 0 && (
        <p className="quiet">
          {t('overview.more-concerns', { types: truncated.map((type) => word('concern', type)).join(', ') })}
        </p>
      )}
    </section>
  );
}

function ConcernRow({ of }: { of: Concern }): ReactNode {
  const { environment: env } = useSigned();
  const place = placeOfConcern(of, env, usePlaceOf());
  const name =
    of.type === 'job.failed' ? word('job', of.name ?? '') : (of.name ?? of.subject ?? t('overview.environment'));
  return (
    <li>
      <span className="concern-type status bad">
        <span aria-hidden="true">✕</span> {word('concern', of.type)}
      </span>
      <span className="concern-text">
        <strong>{name}</strong> <span>{of.sentence}</span>
      </span>
      <span className="quiet concern-since">
        <Since at={of.since} nowMs={serviceNowMs()} />
      </span>
      {place === null ? (
        <span />
      ) : (
        <Link
          to={place.to as '/'}
          search={place.search as never}
          className="button small"
          aria-label={`${t('overview.look')}: ${name}`}
        >
          {t('overview.look')}
        </Link>
      )}
    </li>
  );
}
