import './events.css';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { serviceNowMs } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { Crumbs } from '../kit/Crumbs';
import { PageState } from '../kit/load/PageState';
import type { SkeletonPart } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { PathLink } from '../kit/PathLink';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { Status } from '../kit/status/Status';
import { Since } from '../kit/time/Since';
import { Time } from '../kit/time/Time';
import { useNow } from '../kit/time/use-now';
import { Name, ResourceName } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { type EventDetail, useEvent } from './event-queries';
import { EventActions } from './EventActions';
import { explain } from './explain';
import { listPlace, neighboursOf, rememberOpened } from './list-place';
import { Wait } from './Loading';
import { nextOf } from './next-of';
import { Payload } from './Payload';
import { isEmail } from './response-status';
import { Timeline } from './Timeline';
import { eventStatusOf, isAcknowledged } from './timeline';

const PARTS: readonly SkeletonPart[] = ['title', 'text', ['facts', 5], 'heading', ['cards', 3], 'heading', ['code', 8]];

/** One event: properties, deliveries, responses and payload. */
export function EventScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/events/$id' });
  const { data: event, error, failureReason } = useEvent(id);
  return (
    <div className="page event">
      <title>{`${event?.event_type ?? id} · Posthorn`}</title>
      <Neighbours id={event?.id ?? id} />
      {event === undefined && error === null && <Wait fault={failureReason} />}
      <PageState name={id} isLoaded={event !== undefined} fault={error} parts={PARTS} />
      {event && <Shown key={event.id} event={event} />}
    </div>
  );
}

function Shown({ event }: { event: EventDetail }): ReactNode {
  const why = explain(event);
  return (
    <>
      <div className="heading">
        <h1>{event.event_type}</h1>
        <Status
          of={eventStatusOf({ status: event.status, acknowledged: isAcknowledged(event) }, event.attempts.length)}
        />
        <EventActions event={event} />
      </div>
      {why !== null && (
        <p className="why">
          {why} <WhenNext event={event} />
        </p>
      )}
      {event.note && <p className="why">{event.note}</p>}
      <Facts event={event} />
      <Timeline event={event} />
      <Payload event={event} />
    </>
  );
}

/** Time of the next attempt or circuit breaker probe, if one is scheduled. */
function WhenNext({ event }: { event: EventDetail }): ReactNode {
  const now = useNow(serviceNowMs, 1_000);
  const next = nextOf(event);
  if (next === null) return null;
  const isDue = Date.parse(next.at) <= now;
  return (
    <>
      {t(next.isProbe ? 'explain.next-probe' : 'explain.next-attempt')}{' '}
      {isDue ? t('explain.due') : <Since at={next.at} nowMs={now} />} (<Time at={next.at} isShort />)
    </>
  );
}

function Facts({ event }: { event: EventDetail }): ReactNode {
  const { environment: env } = useSigned();
  const {
    id,
    message_id: message,
    webhook_id: webhookId,
    application,
    endpoint,
    request_id: request,
    direction,
  } = event;
  // The destination of emails is internal: it has no page and no name in the API.
  const [only] = event.deliveries.length === 1 && !isEmail(event) ? event.deliveries : [];
  const destination = only?.destination.startsWith('ep_') === false ? only.destination : null;
  const facts: [label: string, value: string | null | undefined, shown?: ReactNode][] = [
    [t('column.id'), id],
    [t('filter.destination'), destination, destination !== null && <ResourceName id={destination} />],
    [
      t('fact.message'),
      message,
      message !== null && (
        <Link to="/$env/events" params={{ env }} search={{ message_id: message }}>
          <code>{message}</code>
        </Link>
      ),
    ],
    ['webhook-id', webhookId === message ? null : webhookId],
    [
      t('fact.application'),
      application,
      application !== undefined && (
        <Link to="/$env/events" params={{ env }} search={{ application }}>
          <Name id={application} />
        </Link>
      ),
    ],
    [
      t('fact.endpoint'),
      endpoint,
      endpoint !== null && <EndpointLink endpoint={endpoint} isReceiving={direction === 'inbound'} />,
    ],
    [
      t('fact.request'),
      request,
      request !== undefined && endpoint !== null && (
        <PathLink to={`/${env}/endpoints/${encodeURIComponent(endpoint)}/requests/${request}`}>
          <code>{request}</code>
        </PathLink>
      ),
    ],
  ];
  return (
    <dl className="facts">
      <div>
        <dt>{t('column.received')}</dt>
        <dd>
          <Time at={event.received_at} />
        </dd>
      </div>
      <div>
        <dt>{t('fact.direction')}</dt>
        <dd>{t(direction === 'inbound' ? 'direction.inbound' : 'direction.outbound')}</dd>
      </div>
      {facts.map(
        ([label, value, shown]) =>
          value && (
            <div key={label}>
              <dt>{label}</dt>
              <dd>
                {shown || <code>{value}</code>} <CopyButton text={value} />
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** Link to an inbound endpoint. For an application's endpoint, links to the list of its events. */
function EndpointLink({ endpoint, isReceiving }: { endpoint: string; isReceiving: boolean }): ReactNode {
  const { environment: env } = useSigned();
  if (isReceiving)
    return (
      <PathLink to={`/${env}/endpoints/${encodeURIComponent(endpoint)}`}>
        <code>{endpoint}</code>
      </PathLink>
    );
  return (
    <Link to="/$env/events" params={{ env }} search={{ endpoint }}>
      <Name id={endpoint} />
    </Link>
  );
}

/** Links to the list, and to the previous and the next event in the list. */
function Neighbours({ id }: { id: string }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { next, previous } = neighboursOf(id);
  const open = (other: string | undefined): void => {
    if (other !== undefined) void navigate({ to: '/$env/events/$id', params: { env, id: other } });
  };
  const back = (): void => void navigate({ to: '/$env/events', params: { env }, search: listPlace().search });
  useEffect(() => rememberOpened(id), [id]);
  useShortcut('next', () => open(next));
  useShortcut('previous', () => open(previous));
  useShortcut('back', back);
  useEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (
        event.key === 'Escape' &&
        !event.defaultPrevented &&
        document.querySelector('dialog[open], details.account[open], details.disclosure[open]') === null &&
        !(event.target instanceof HTMLInputElement && event.target.value !== '')
      )
        back();
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  });
  return (
    <Crumbs to={`/${env}/events`} search={listPlace().search} label={t('nav.events')} title={keysOf('back')}>
      <button
        type="button"
        className="small"
        disabled={previous === undefined}
        title={keysOf('previous')}
        onClick={() => open(previous)}
      >
        {t('shortcut.previous')}
      </button>
      <button
        type="button"
        className="small"
        disabled={next === undefined}
        title={keysOf('next')}
        onClick={() => open(next)}
      >
        {t('shortcut.next')}
      </button>
    </Crumbs>
  );
}
