import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { serviceNowMs } from '../api/client';
import { t, word } from '../kit/messages/t';
import { usePlaceOf } from '../kit/places';
import { BY_PERSON, disabledReason } from '../kit/status/disabled-reason';
import { SinceAge } from '../kit/time/Since';
import { PHONE, useMedia } from '../kit/use-media';
import { useSigned } from '../session/session';
import { groupBySubject, placeOfConcern, reasonIn } from './concern-place';
import type { Concern } from './overview-queries';

/** Number of problems that are shown at first. `overview.css` reserves their height, so that new ones move nothing. */
const SHOWN = 3;
const SHOWN_ON_PHONES = 1;

/**
 * Current problems, grouped by the affected resource, each with its start and a link to the place that fixes it. The
 * most serious ones are first. Targets that a person disabled are last.
 */
export function AttentionPanel({
  concerns,
  truncated,
}: {
  concerns: readonly Concern[];
  truncated: readonly string[];
}): ReactNode {
  const [isAll, setAll] = useState(false);
  const shownMax = useMedia(PHONE) ? SHOWN_ON_PHONES : SHOWN;
  const hasMore = concerns.length > shownMax;
  const sorted = concerns.toSorted((one, other) => Number(isDeliberate(one)) - Number(isDeliberate(other)));
  return (
    <section className="attention" aria-labelledby="attention">
      <div className="heading">
        <h2 id="attention">
          {t('overview.attention')} {concerns.length > 0 && !hasMore && <span className="tag">{concerns.length}</span>}
        </h2>
        {hasMore && (
          <button type="button" aria-expanded={isAll} onClick={() => setAll(!isAll)}>
            {isAll ? t('overview.fewer-concerns') : t('overview.all-concerns', { count: concerns.length })}
          </button>
        )}
      </div>
      <div className="attention-place">
        {concerns.length === 0 && (
          <p className="all-well">
            <span className="status good">
              <span aria-hidden="true">✓</span> {t('overview.all-well')}
            </span>
          </p>
        )}
        {concerns.length > 0 && (
          <ul className="concern-groups">
            {groupBySubject(isAll ? sorted : sorted.slice(0, shownMax)).map(({ subject, concerns: all }) => (
              <ConcernGroup key={subject} of={all} />
            ))}
          </ul>
        )}
      </div>
      {truncated.length > 0 && (isAll || !hasMore) && (
        <p className="quiet">
          {t('overview.more-concerns', { types: truncated.map((type) => word('concern', type)).join(', ') })}
        </p>
      )}
    </section>
  );
}

/** The problems of one resource. */
function ConcernGroup({ of }: { of: readonly Concern[] }): ReactNode {
  const [first] = of;
  if (first === undefined) return null;
  const name =
    first.type === 'job.failed'
      ? word('job', first.name ?? '')
      : first.name || (first.subject ?? t('overview.environment'));
  return (
    <li className={of.every(isDeliberate) ? 'deliberate' : undefined}>
      <h3 className="concern-name" title={name}>
        {name}
      </h3>
      <ul className="concerns">
        {of.map((concern) => (
          <ConcernRow key={concern.type} of={concern} name={name} />
        ))}
      </ul>
    </li>
  );
}

/** Returns whether a person disabled the target. This is not a failure, so it is not red. */
const isDeliberate = ({ type, sentence }: Concern): boolean =>
  type === 'target.disabled' && reasonIn(sentence) === BY_PERSON;

function ConcernRow({ of, name }: { of: Concern; name: string }): ReactNode {
  const { environment: env } = useSigned();
  const place = placeOfConcern(of, env, usePlaceOf());
  return (
    <li>
      <span className="concern-type">
        <span className={`status ${isDeliberate(of) ? 'dull' : 'bad'}`}>
          <span aria-hidden="true">{isDeliberate(of) ? '○' : '✕'}</span> {word('concern', of.type)}
        </span>
      </span>
      <span className="concern-text" title={textOf(of)}>
        {textOf(of)}
      </span>
      <span className="quiet concern-since">
        <SinceAge at={of.since} nowMs={serviceNowMs()} />
      </span>
      {place !== null && (
        <Link
          to={place.to as '/'}
          search={place.search as never}
          className="button small"
          aria-label={`${word('fix', of.type)}: ${name}`}
        >
          {word('fix', of.type)}
        </Link>
      )}
    </li>
  );
}

/**
 * Returns the translated explanation of a problem. Returns the API's sentence if there is no translation, or if the
 * sentence has more details.
 */
function textOf({ type, count, sentence }: Concern): string {
  const reason = reasonIn(sentence);
  if (type === 'target.disabled' && reason === null) return sentence;
  const text = word('concern-text', type, { count, reason: reason === null ? '' : disabledReason(reason) });
  return text === type ? sentence : text;
}
