import { type ReactNode, useState } from 'react';
import { type Schemas, serviceNowMs } from '../api/client';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Since } from '../kit/time/Since';
import { useNow } from '../kit/time/use-now';
import { ResourceName } from '../session/ResourceName';
import { AttemptEntry } from './AttemptEntry';
import { type EventDetail, useExchanges } from './event-queries';
import { isEmail } from './response-status';
import { Schedule } from './Schedule';
import { isDelivered, type TimelineEntry, timelineOf } from './timeline';

/** Number of steps that are shown at first. Some events have thousands. */
const SHOWN = 50;
/** Refresh interval of relative times. The status sentence also has this interval, so that both show the same time. */
const EVERY_MS = 1_000;

/** Everything that happened to the event and what happens next, newest first. */
export function Timeline({ event }: { event: EventDetail }): ReactNode {
  const exchanges = useExchanges(event);
  const nowMs = useNow(serviceNowMs, EVERY_MS);
  const [isAll, setAll] = useState(false);
  const entries = timelineOf(event);
  // The destination of emails is internal: it has no page and no name in the API.
  const hasTargets = event.deliveries.length > 1 && !isEmail(event);
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">{t('timeline')}</h2>
      <ol className="event-timeline" aria-labelledby="timeline">
        {(isAll ? entries : entries.slice(0, SHOWN)).map((entry) => (
          <Entry
            key={entry.id}
            entry={entry}
            event={event}
            nowMs={nowMs}
            showsTarget={hasTargets}
            exchange={exchanges.get(entry.id)}
          />
        ))}
      </ol>
      {!isAll && entries.length > SHOWN && (
        <button type="button" onClick={() => setAll(true)}>
          {t('timeline.more', { count: entries.length })}
        </button>
      )}
      {event.attempts.some(isDelivered) && <p className="quiet">{t('attempts.kept')}</p>}
      <Schedule event={event} />
    </section>
  );
}

interface EntryProps {
  entry: TimelineEntry;
  event: EventDetail;
  nowMs: number;
  showsTarget: boolean;
  exchange: Schemas['ExchangeItem'] | undefined;
}

function Entry({ entry, event, nowMs, showsTarget, exchange }: EntryProps): ReactNode {
  const to = 'delivery' in entry && showsTarget && <To of={entry.delivery.destination} />;
  const replayed = 'delivery' in entry && entry.delivery.replayed && <span className="tag">{t('replayed')}</span>;
  switch (entry.kind) {
    case 'attempt':
      return <AttemptEntry entry={entry} event={event} nowMs={nowMs} showsTarget={showsTarget} exchange={exchange} />;
    case 'accepted':
      return (
        <li className="dull">
          <strong>{t('timeline.accepted')}</strong>{' '}
          <span className="quiet">
            <Since at={entry.at} nowMs={nowMs} />
          </span>
        </li>
      );
    case 'next':
    case 'probe':
      return (
        <li className="busy">
          <Coming entry={entry} nowMs={nowMs} /> {replayed} {to}
        </li>
      );
    case 'circuit':
      return (
        <li className="busy">
          {t('timeline.circuit')}{' '}
          <span className="quiet">
            <Since at={entry.at} nowMs={nowMs} />
          </span>{' '}
          {to}
        </li>
      );
    case 'end':
      return (
        <li className={entry.status === 'failed' || entry.status === 'dlq' ? 'bad' : 'dull'}>
          <Status of={entry.status} /> <span className="quiet">{endText(entry)}</span>
          {entry.status === 'acknowledged' && <Acknowledged of={entry.delivery} nowMs={nowMs} />} {replayed} {to}
        </li>
      );
    case 'set-aside':
      return (
        <li className="dull">
          <Status of={entry.status} />
        </li>
      );
  }
}

/** The next attempt or probe, with its time. */
function Coming({
  entry: { kind, at },
  nowMs,
}: {
  entry: Extract<TimelineEntry, { kind: 'next' | 'probe' }>;
  nowMs: number;
}): ReactNode {
  if (at === null) return <strong>{t(kind === 'next' ? 'timeline.now' : 'timeline.probing')}</strong>;
  return (
    <>
      <strong>{t(kind === 'next' ? 'timeline.next' : 'timeline.probe')}</strong>{' '}
      <span className="quiet">{Date.parse(at) <= nowMs ? t('explain.due') : <Since at={at} nowMs={nowMs} />}</span>
    </>
  );
}

function endText({ status, delivery: { reason } }: Extract<TimelineEntry, { kind: 'end' }>): string {
  if (reason !== null) return word('reason', reason);
  if (status === 'available') return t('timeline.available');
  return status === 'dlq' ? t('timeline.dlq') : '';
}

/** The feed (pull destination) in which a consumer acknowledged the event, and the time by which it did so. */
function Acknowledged({ of: { pull }, nowMs }: { of: EventDetail['deliveries'][number]; nowMs: number }): ReactNode {
  if (pull?.feed == null || pull.committed_at === null) return null;
  return (
    <span className="quiet">
      {t('timeline.acknowledged')} <ResourceName id={pull.feed} /> {t('timeline.acknowledged-by')}{' '}
      <Since at={pull.committed_at} nowMs={nowMs} />
    </span>
  );
}

function To({ of }: { of: string }): ReactNode {
  return (
    <span className="target">
      <span aria-hidden="true">→</span> <span className="offscreen">{t('timeline.to')}</span> <ResourceName id={of} />
    </span>
  );
}
