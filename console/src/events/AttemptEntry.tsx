import { type ReactNode, useState } from 'react';
import type { Schemas } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { t, word } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { formatDuration } from '../kit/time/format';
import { Since } from '../kit/time/Since';
import { ResourceName } from '../session/ResourceName';
import { signedCurlOf } from './curl';
import { type EventDetail, useRetry } from './event-queries';
import { formatResponseStatus } from './response-status';
import type { TimelineEntry } from './timeline';

interface AttemptEntryProps {
  entry: Extract<TimelineEntry, { kind: 'attempt' }>;
  event: EventDetail;
  nowMs: number;
  showsTarget: boolean;
  exchange: Schemas['ExchangeItem'] | undefined;
}

/** One attempt: a line with result, time and duration, which expands to show all other details. */
export function AttemptEntry({ entry, event, nowMs, showsTarget, exchange }: AttemptEntryProps): ReactNode {
  const { attempt, isGood, isFinal } = entry;
  const { language } = usePreferences();
  const retry = useRetry(event, attempt.destination);
  const { number, status, error, duration_ms, response_excerpt: excerpt, destination, replayed } = attempt;
  const hasExcerpt = excerpt !== null && excerpt !== '';
  const result = status === null ? word('error', error ?? 'connection') : formatResponseStatus(event, status);
  return (
    <li className={`attempt ${isGood ? 'good' : 'bad'}`}>
      <span className="attempt-line">
        <span aria-hidden="true" className="sign">
          {isGood ? '✓' : '✕'}
        </span>{' '}
        <strong>
          {retry === null ? t('attempt', { number }) : t('attempt.of', { number, count: retry.max_attempts })}
        </strong>{' '}
        <span>{result}</span> {isFinal && <Status of="delivered" />}{' '}
        <span className="quiet">
          <Since at={attempt.at} nowMs={nowMs} /> · {formatDuration(duration_ms, language)}
        </span>
        {replayed && <span className="tag">{t('replayed')}</span>}
        {showsTarget && (
          <span className="target">
            {' '}
            <span aria-hidden="true">→</span> <span className="offscreen">{t('timeline.to')}</span>{' '}
            <ResourceName id={destination} />
          </span>
        )}
      </span>
      {(hasExcerpt || exchange !== undefined) && <Details excerpt={hasExcerpt ? excerpt : null} exchange={exchange} />}
    </li>
  );
}

function Details({
  excerpt,
  exchange,
}: {
  excerpt: string | null;
  exchange: Schemas['ExchangeItem'] | undefined;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{t('timeline.details')}</span>
        {excerpt !== null && !isOpen && (
          <span className="excerpt" aria-hidden="true" title={excerpt}>
            {excerpt}
          </span>
        )}
      </summary>
      {excerpt !== null && <Part label={t('attempt.answer')} text={excerpt} />}
      {exchange !== undefined && (
        <>
          {exchange.response !== null && (
            <Part label={t('attempt.answered')} text={lines(exchange.response.headers).join('\n')} />
          )}
          <Part
            label={t('attempt.sent')}
            text={[`${exchange.request.method} ${exchange.request.url}`, ...lines(exchange.request.headers)].join('\n')}
          />
          <p>
            <CopyButton text={() => signedCurlOf({ ...exchange.request, body: null })} label={t('timeline.curl')} />
          </p>
        </>
      )}
    </details>
  );
}

function Part({ label, text }: { label: string; text: string }): ReactNode {
  return (
    <>
      <h3>{label}</h3>
      <pre tabIndex={0} aria-label={label} role="group">
        {text}
      </pre>
    </>
  );
}

const lines = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
