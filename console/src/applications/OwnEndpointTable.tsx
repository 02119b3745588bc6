import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { serviceNowMs } from '../api/client';
import type { MenuItem } from '../kit/menu/RowMenu';
import { t } from '../kit/messages/t';
import { TargetHealth } from '../kit/status/TargetHealth';
import { type Column, Table } from '../kit/table/Table';
import { useSeen } from '../kit/use-seen';
import { useSigned } from '../session/session';
import type { OwnEndpoint } from './application-queries';
import { DisableOwnEndpoint } from './DisableOwnEndpoint';
import { useEndpointHealth, useHasPending } from './endpoint-health';
import { useStatusChange } from './use-status-change';

interface OwnEndpointTableProps {
  app: string;
  rows: readonly OwnEndpoint[];
}

/** Endpoints of a customer with their health and their actions. Each row loads its health when it becomes visible. */
export function OwnEndpointTable({ app, rows }: OwnEndpointTableProps): ReactNode {
  const { environment: env, can } = useSigned();
  const navigate = useNavigate();
  const changeStatus = useStatusChange(app);
  const hasPending = useHasPending(app);
  const [disabling, setDisabling] = useState<OwnEndpoint | null>(null);
  const switchStatus = async (of: OwnEndpoint): Promise<void> => {
    if (of.status === 'active' && (await hasPending(of))) setDisabling(of);
    else changeStatus(of);
  };
  const itemsOf = (of: OwnEndpoint): MenuItem[] => [
    {
      label: t('edit'),
      onSelect: () =>
        void navigate({
          to: '/$env/applications/$id/endpoints/$endpoint/edit',
          params: { env, id: app, endpoint: of.id },
        }),
    },
    { label: t(of.status === 'active' ? 'disable' : 'enable'), onSelect: () => void switchStatus(of) },
  ];
  const columns: Column<OwnEndpoint>[] = [
    {
      id: 'target',
      label: t('own-endpoint.target'),
      cell: (of) => (
        <Link to="/$env/applications/$id/endpoints/$endpoint" params={{ env, id: app, endpoint: of.id }}>
          <bdi>{targetOf(of)}</bdi>
        </Link>
      ),
      full: targetOf,
      isFlexible: true,
    },
    { id: 'health', label: t('health'), cell: (of) => <Health app={app} of={of} />, isFlexible: true, weight: 1.75 },
    {
      id: 'types',
      label: t('own-endpoint.types'),
      cell: ({ event_types: types }) => types.join(', ') || t('own-endpoint.all-types'),
      isFlexible: true,
    },
    {
      id: 'description',
      label: t('own-endpoint.description'),
      cell: ({ description }) => description || '–',
      isFlexible: true,
    },
  ];
  return (
    <>
      <Table
        id="own-endpoints"
        label={t('application.endpoints')}
        rows={rows}
        columns={columns}
        keyOf={({ id }) => id}
        {...(can('write') && { actions: { nameOf: targetOf, itemsOf } })}
      />
      {disabling && <DisableOwnEndpoint app={app} of={disabling} onClose={() => setDisabling(null)} />}
    </>
  );
}

const targetOf = ({ url, destination, id }: OwnEndpoint): string => url ?? destination ?? id;

function Health({ app, of }: { app: string; of: OwnEndpoint }): ReactNode {
  const [ref, isSeen] = useSeen<HTMLSpanElement>();
  const { health, pending } = useEndpointHealth(app, of, isSeen);
  return (
    <span ref={ref} className="health-line">
      <TargetHealth of={health} pending={pending} clock={serviceNowMs} isShort />
    </span>
  );
}
