import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import { answered } from '../api/client';
import { portalApi } from '../api/portal';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { formatJson } from '../kit/json/format-json';
import { JsonView } from '../kit/json/JsonView';
import { Skeleton } from '../kit/load/Skeleton';
import { word } from '../kit/messages/t';
import { preferences } from '../kit/preferences';
import { Status } from '../kit/status/Status';
import { NOTHING_FOUND, TextView } from '../kit/text/TextView';
import { formatDuration } from '../kit/time/format';
import { Time } from '../kit/time/Time';
import { usePortal } from './context';
import { nameOf } from './Endpoints';
import { payloadText } from './payload-text';
import type { Place } from './places';
import { type Delivery, useDelivery, useListedEndpoint } from './portal-queries';
import { p } from './texts';

/** One delivery: its payload, its attempts with responses, and the time of the next attempt. */
export function DeliveryView({ id, back }: { id: string; back: Place }): ReactNode {
  const { can, go } = usePortal();
  const { data, error, isPending } = useDelivery(id);
  const next = data?.event.deliveries.find(({ next_attempt_at: at }) => at !== null)?.next_attempt_at ?? null;
  return (
    <section>
      <p>
        <button type="button" className="link" onClick={() => go(back)}>
          ← {p('nav.deliveries')}
        </button>
      </p>
      {isPending && <Skeleton parts={['title', 'text', ['code', 12]]} />}
      <FaultLine fault={error} />
      {data && (
        <>
          <div className="heading">
            <h2>{data.event.event_type}</h2>
            <Status of={data.event.status} />
          </div>
          <p className="quiet">
            <Time at={data.event.received_at} /> · <code>{data.event.webhook_id}</code>
          </p>
          {next !== null && (
            <p className="why">
              {p('delivery.next')}: <Time at={next} />
            </p>
          )}
          {can('resend') && data.event.endpoint !== null && <Resend event={data.event} />}
          <Request event={data.event} text={payloadText(data.text)} />
          <Attempts event={data.event} />
        </>
      )}
    </section>
  );
}

function Resend({ event }: { event: Delivery }): ReactNode {
  const { app } = usePortal();
  const queries = useQueryClient();
  const [isSent, setSent] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const resend = (): void => {
    setFault(null);
    setSent(false);
    answered(
      portalApi.POST('/v1/app/{app}/messages/{message}/endpoints/{endpoint}/resend', {
        params: { path: { app, message: event.message_id ?? '', endpoint: event.endpoint ?? '' } },
      }),
    )
      .then(() => {
        setSent(true);
        return queries.invalidateQueries({ queryKey: ['delivery', event.id] });
      })
      .catch(setFault);
  };
  return (
    <>
      <p className="actions">
        <button type="button" onClick={resend}>
          {p('delivery.resend')}
        </button>
        <span role="status">{isSent && p('delivery.resent')}</span>
      </p>
      <FaultLine fault={fault} />
    </>
  );
}

function Request({ event, text }: { event: Delivery; text: string | null }): ReactNode {
  const endpoint = useListedEndpoint(event.endpoint);
  const headers = {
    'content-type': 'application/json',
    'webhook-id': event.webhook_id,
    'webhook-event-type': event.event_type,
    ...event.headers,
  };
  return (
    <div className="panel">
      <h3>{p('delivery.request')}</h3>
      {endpoint && (
        <p>
          POST <code>{endpoint.url ?? nameOf(endpoint)}</code>
        </p>
      )}
      <pre>
        {Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}
      </pre>
      <div className="heading">
        <h4>{p('delivery.payload')}</h4>
        {text !== null && <CopyButton text={text} label={p('copy')} />}
      </div>
      {text === null ? (
        <p className="quiet">{p(event.payload_erased_at === undefined ? 'delivery.too-large' : 'delivery.erased')}</p>
      ) : (
        <Payload text={text} />
      )}
    </div>
  );
}

/** Shows a payload in colors, formatted without changing its characters. */
function Payload({ text }: { text: string }): ReactNode {
  const formatted = useMemo(() => formatJson(text), [text]);
  if (formatted === null) return <TextView text={text} label={p('delivery.payload')} />;
  return <JsonView text={formatted} label={p('delivery.payload')} found={NOTHING_FOUND} isFormatted />;
}

function Attempts({ event: { attempts } }: { event: Delivery }): ReactNode {
  const { language } = preferences();
  return (
    <div className="panel">
      <h3>{p('delivery.answer')}</h3>
      {attempts.length === 0 && <p className="quiet">{p('delivery.no-attempt')}</p>}
      <ol className="attempts" reversed>
        {[...attempts].reverse().map((attempt) => {
          const isGood = attempt.status !== null && attempt.status >= 200 && attempt.status < 300;
          return (
            <li key={`${attempt.delivery} ${attempt.number}`}>
              <p>
                <span className={`status ${isGood ? 'good' : 'bad'}`}>
                  <span aria-hidden="true">{isGood ? '✓' : '✕'}</span>{' '}
                  {attempt.status === null ? word('error', attempt.error ?? '') : `HTTP ${attempt.status}`}
                </span>{' '}
                <span className="quiet">
                  {p('delivery.attempt', { number: attempt.number })}
                  {attempt.replayed && ` (${p('delivery.replayed')})`} · <Time at={attempt.at} /> ·{' '}
                  {p('delivery.took', { duration: formatDuration(attempt.duration_ms, language) })}
                </span>
              </p>
              {attempt.response_excerpt ? (
                <pre>{attempt.response_excerpt}</pre>
              ) : (
                <p className="quiet">{p('delivery.empty-answer')}</p>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
