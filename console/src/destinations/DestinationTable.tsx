import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Schemas, serviceNowMs } from '../api/client';
import type { MenuItem } from '../kit/menu/RowMenu';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { TargetHealth } from '../kit/status/TargetHealth';
import { type Column, Table } from '../kit/table/Table';
import { Since } from '../kit/time/Since';
import { useSeen } from '../kit/use-seen';
import { useSigned } from '../session/session';
import { DayLine } from './DayLine';
import { isHealthOfConsumers, useDestinationHealth, useHasPending } from './destination-health';
import { DisableDestination } from './DisableDestination';
import { PullConsumers } from './PullConsumers';
import { useStatusChange } from './use-status-change';

type Destination = Schemas['DestinationItem'];

/** Destinations with their health and their actions. Each row loads its health when it becomes visible. */
export function DestinationTable({ rows }: { rows: readonly Destination[] }): ReactNode {
  const { environment: env, can } = useSigned();
  const navigate = useNavigate();
  const changeStatus = useStatusChange();
  const hasPending = useHasPending();
  const [disabling, setDisabling] = useState<Destination | null>(null);
  const switchStatus = async (of: Destination): Promise<void> => {
    if (of.status === 'active' && (await hasPending(of.id))) setDisabling(of);
    else changeStatus(of);
  };
  const itemsOf = (of: Destination): MenuItem[] => [
    {
      label: t('edit'),
      onSelect: () => void navigate({ to: '/$env/destinations/$id/edit', params: { env, id: of.id } }),
    },
    { label: t(of.status === 'active' ? 'disable' : 'enable'), onSelect: () => void switchStatus(of) },
  ];
  const columns: Column<Destination>[] = [
    {
      id: 'name',
      label: t('destination.name'),
      cell: ({ id, name }) => (
        <Link to="/$env/destinations/$id" params={{ env, id }}>
          <bdi>{name}</bdi>
        </Link>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    {
      id: 'health',
      label: t('health'),
      cell: (of) => (isHealthOfConsumers(of) ? <PullConsumers /> : <Health of={of} />),
      isFlexible: true,
      weight: 2.5,
    },
    { id: 'day', label: t('destinations.day'), cell: ({ id }) => <Day id={id} /> },
    { id: 'type', label: t('destination.type'), cell: ({ type }) => type },
    { id: 'url', label: 'URL', cell: ({ url }) => url ?? '–', isFlexible: true, weight: 1.2 },
    { id: 'created', label: t('created'), cell: ({ created_at: at }) => <Since at={at} nowMs={serviceNowMs()} /> },
  ];
  return (
    <>
      <Table
        id="destinations"
        label={t('nav.destinations')}
        rows={rows}
        columns={columns}
        keyOf={({ id }) => id}
        {...(can('write') && { actions: { nameOf: ({ name }: Destination) => name, itemsOf } })}
      />
      {disabling && <DisableDestination id={disabling.id} name={disabling.name} onClose={() => setDisabling(null)} />}
    </>
  );
}

function Health({ of }: { of: Destination }): ReactNode {
  const [ref, isSeen] = useSeen<HTMLSpanElement>();
  const { health, pending } = useDestinationHealth(of, isSeen);
  return (
    <span ref={ref} className="health-line">
      <TargetHealth of={health} pending={pending} clock={serviceNowMs} isShort />
      {of.type !== 'pull' && of.validation !== 'valid' && <Status of={of.validation} kind="validation" />}
    </span>
  );
}

function Day({ id }: { id: string }): ReactNode {
  const [ref, isSeen] = useSeen<HTMLSpanElement>();
  return (
    <span ref={ref}>
      <DayLine id={id} isAsked={isSeen} />
    </span>
  );
}
