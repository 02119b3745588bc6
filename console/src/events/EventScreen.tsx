import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { FaultLine } from '../kit/form/FaultLine';
import { CopyButton } from '../kit/CopyButton';
import { t } from '../kit/messages/t';
import { keysOf } from '../kit/shortcuts/registry';
import { useShortcut } from '../kit/shortcuts/use-shortcut';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { Attempts } from './Attempts';
import { Deliveries } from './Deliveries';
import { type EventDetail, useEvent } from './event-queries';
import { EventActions } from './EventActions';
import { explain } from './explain';
import { listPlace, neighboursOf, rememberOpened } from './list-place';
import { Payload } from './Payload';
import './events.css';

/** One event: what it is, where it went, what was answered, and what was sent. */
export function EventScreen(): ReactNode {
  const { id } = useParams({ from: '/$env/events/$id' });
  const { data: event, error, isPending } = useEvent(id);
  return (
    <div className="page event">
      <title>{`${event?.event_type ?? id} · Posthorn`}</title>
      <Neighbours id={event?.id ?? id} />
      {isPending && <p role="status">{t('loading')}</p>}
      <FaultLine fault={error} />
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
        <Status of={event.status} />
        <EventActions event={event} />
      </div>
      {why !== null && <p className="why">{why}</p>}
      {event.note && <p className="why">{event.note}</p>}
      <Facts event={event} />
      <Deliveries event={event} />
      <Attempts event={event} />
      <Payload event={event} />
    </>
  );
}

function Facts({ event }: { event: EventDetail }): ReactNode {
  const facts: [label: string, value: string | null | undefined][] = [
    [t('column.id'), event.id], [t('fact.message'), event.message_id], ['webhook-id', event.webhook_id], [t('fact.application'), event.application],
    [t('fact.endpoint'), event.endpoint], [t('fact.request'), event.request_id],
  ];
  return (
    <dl className="facts">
      <div><dt>{t('column.received')}</dt><dd><Time at={event.received_at} /></dd></div>
      <div><dt>{t('fact.direction')}</dt><dd>{t(event.direction === 'inbound' ? 'direction.inbound' : 'direction.outbound')}</dd></div>
      {facts.map(([label, value]) => value && <div key={label}><dt>{label}</dt><dd><code>{value}</code> <CopyButton text={value} label={t('copy')} /></dd></div>)}
    </dl>
  );
}

/** The way back to the list, and to the events beside this one in it. */
function Neighbours({ id }: { id: string }): ReactNode {
  const { environment: env } = useSigned();
  const navigate = useNavigate();
  const { next, previous } = neighboursOf(id);
  const open = (other: string | undefined): void => { if (other !== undefined) void navigate({ to: '/$env/events/$id', params: { env, id: other } }); };
  const back = (): void => void navigate({ to: '/$env/events', params: { env }, search: listPlace().search });
  useEffect(() => rememberOpened(id), [id]);
  useShortcut('next', () => open(next));
  useShortcut('previous', () => open(previous));
  useShortcut('back', back);
  useEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open], details.account[open]') === null) back();
    };
    document.addEventListener('keydown', leave);
    return () => document.removeEventListener('keydown', leave);
  });
  return (
    <nav className="neighbours" aria-label={t('neighbours')}>
      <Link to="/$env/events" params={{ env }} search={listPlace().search} title={keysOf('back')}>← {t('nav.events')}</Link>
      <button type="button" className="small" disabled={previous === undefined} title={keysOf('previous')} onClick={() => open(previous)}>{t('shortcut.previous')}</button>
      <button type="button" className="small" disabled={next === undefined} title={keysOf('next')} onClick={() => open(next)}>{t('shortcut.next')}</button>
    </nav>
  );
}
