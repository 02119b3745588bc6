import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { t, word } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { Time } from '../kit/time/Time';
import { useSigned } from '../session/session';
import { type EventDetail, useDestinationNames } from './event-queries';

/** Deliveries of the event, with the state of each. */
export function Deliveries({ event }: { event: EventDetail }): ReactNode {
  if (event.deliveries.length === 0) return null;
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">{t('deliveries')}</h2>
      <div className="scroll" tabIndex={0} role="group" aria-labelledby="deliveries">
        <table className="plain">
          <thead>
            <tr>
              <th scope="col">{t('column.target')}</th>
              <th scope="col">{t('column.status')}</th>
              <th scope="col">{t('delivery.next')}</th>
            </tr>
          </thead>
          <tbody>
            {event.deliveries.map((delivery) => (
              <tr key={delivery.id}>
                <td>
                  <Target of={delivery.destination} />
                  {delivery.replayed && <span className="tag">{t('replayed')}</span>}
                </td>
                <td>
                  <Status of={delivery.status} />
                  {delivery.reason !== null && <span className="quiet"> {word('reason', delivery.reason)}</span>}
                </td>
                <td>
                  {delivery.next_attempt_at === null ? '–' : <Time at={delivery.next_attempt_at} />}
                  {delivery.circuit !== null && <span className="quiet"> {t('delivery.circuit')}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

/** Name of a destination. Shows the URL or the id if the name is unknown. */
export function Target({ of }: { of: string }): ReactNode {
  const { environment: env } = useSigned();
  const known = useDestinationNames().get(of);
  if (!of.startsWith('dst_')) return <code>{of}</code>;
  return (
    <Link to="/$env/destinations/$id" params={{ env, id: of }}>
      {known?.name ?? of}
    </Link>
  );
}
