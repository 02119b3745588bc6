import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { t } from '../kit/messages/t';
import { Status } from '../kit/status/Status';
import { type Column, Table } from '../kit/table/Table';
import { RelativeTime } from '../kit/time/RelativeTime';
import { useSigned } from '../session/session';
import { type EndpointItem, usePresets } from './endpoint-queries';
import { useStatusChange } from './use-status-change';

/** Inbound endpoints with their status, their verification and their actions. */
export function EndpointTable({ rows }: { rows: readonly EndpointItem[] }): ReactNode {
  const { environment: env, can } = useSigned();
  const changeStatus = useStatusChange();
  const names = new Map(usePresets().map(({ id, name }) => [id, name]));
  const columns: Column<EndpointItem>[] = [
    {
      id: 'name',
      label: t('endpoint.name'),
      cell: ({ id, name }) => (
        <Link to="/$env/endpoints/$id" params={{ env, id }}>
          <bdi>{name}</bdi>
        </Link>
      ),
      full: ({ name }) => name,
      isFlexible: true,
    },
    { id: 'status', label: t('column.status'), cell: ({ status }) => <Status of={status} /> },
    {
      id: 'preset',
      label: t('endpoint.preset'),
      cell: ({ preset }) => (preset === null ? '–' : (names.get(preset) ?? preset)),
    },
    { id: 'verification', label: t('endpoint.verification'), cell: (of) => <Verification of={of} /> },
    {
      id: 'url',
      label: t('endpoint.url'),
      cell: ({ url }) => (
        <span className="copied-cell">
          <code>{url}</code>
          <CopyButton text={url} name={`${t('copy')}: ${url}`} />
        </span>
      ),
      full: ({ url }) => url,
      isFlexible: true,
    },
    {
      id: 'routes',
      label: t('endpoint.routes'),
      cell: ({ destinations }) => destinations.length,
      isNumeric: true,
    },
    { id: 'created', label: t('created'), cell: ({ created_at: at }) => <RelativeTime at={at} /> },
  ];
  return (
    <Table
      id="endpoints"
      label={t('nav.endpoints')}
      rows={rows}
      columns={columns}
      keyOf={({ id }) => id}
      {...(can('write') && {
        actions: {
          nameOf: ({ name }: EndpointItem) => name,
          itemsOf: (of: EndpointItem) => [
            {
              label: t(of.status === 'active' ? 'endpoint.pause' : 'endpoint.activate'),
              onSelect: () => changeStatus(of),
            },
          ],
        },
      })}
    />
  );
}

/** Verification of an endpoint's requests, or a warning if they are not verified. */
function Verification({ of: { verification, has_secret: hasSecret } }: { of: EndpointItem }): ReactNode {
  if (verification !== 'none' && (hasSecret || verification === 'jwt'))
    return t('endpoint.verified-by', {
      scheme: verification === 'preset' ? t('endpoint.by-provider') : verification,
    });
  return (
    <span className="status busy">
      <span aria-hidden="true">!</span> {t(verification === 'none' ? 'verification.none' : 'endpoint.no-secret')}
    </span>
  );
}
