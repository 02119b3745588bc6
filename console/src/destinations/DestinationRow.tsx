import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Schemas, serviceNowMs } from '../api/client';
import { Status } from '../kit/status/Status';
import { TargetHealth } from '../kit/status/TargetHealth';
import { Since } from '../kit/time/Since';
import { useSeen } from '../kit/use-seen';
import { useSigned } from '../session/session';
import { DayLine } from './DayLine';
import { useDestinationHealth } from './destination-health';

/** A destination in the list. Loads its health and its chart when it becomes visible. */
export function DestinationRow({ of }: { of: Schemas['DestinationItem'] }): ReactNode {
  const { environment: env } = useSigned();
  const [row, isSeen] = useSeen<HTMLTableRowElement>();
  const { health, pending } = useDestinationHealth(of, isSeen);
  return (
    <tr ref={row}>
      <td className="clip">
        <Link to="/$env/destinations/$id" params={{ env, id: of.id }} title={of.name}>
          {of.name}
        </Link>
      </td>
      <td>
        <TargetHealth of={health} pending={pending} clock={serviceNowMs} />
        {of.validation !== 'valid' && (
          <div className="check">
            <Status of={of.validation} kind="validation" />
          </div>
        )}
      </td>
      <td>
        <DayLine id={of.id} isAsked={isSeen} />
      </td>
      <td>{of.type}</td>
      <td className="clip">
        <span title={of.url ?? undefined}>{of.url ?? '–'}</span>
      </td>
      <td className="number">
        <Since at={of.created_at} nowMs={serviceNowMs()} />
      </td>
    </tr>
  );
}
