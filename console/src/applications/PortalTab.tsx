import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { ListSkeleton } from '../kit/load/Skeleton';
import { t } from '../kit/messages/t';
import { type Column, Table } from '../kit/table/Table';
import { Time } from '../kit/time/Time';
import { ResourceName } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { usePortalLinks } from './application-queries';
import { NewPortalLink } from './NewPortalLink';

/** Portal links of an application: create, list and revoke them. */
export function PortalTab(): ReactNode {
  const { id } = useParams({ from: '/$env/applications/$id' });
  const { can } = useSigned();
  if (!can('write')) return <p>{t('needs-write')}</p>;
  return (
    <>
      <NewPortalLink app={id} />
      <Links app={id} />
    </>
  );
}

function Links({ app }: { app: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const { data, error, isPending } = usePortalLinks(app);
  const [asked, setAsked] = useState<string | null>(null);
  const revoke = async (): Promise<void> => {
    await (asked === 'all'
      ? answered(api.DELETE('/v1/app/{app}/portal', { params: { path: { app } } }))
      : answered(api.DELETE('/v1/app/{app}/portal/{id}', { params: { path: { app, id: asked ?? '' } } })));
    await queries.invalidateQueries({ queryKey: ['portal-links', env, app] });
  };
  const links = data?.data ?? [];
  const columns: Column<(typeof links)[number]>[] = [
    {
      id: 'created',
      label: t('created'),
      cell: ({ created_at: at, kind }) => (
        <>
          <Time at={at} />
          {kind === 'preview' && <span className="tag">{t('portal.preview')}</span>}
        </>
      ),
    },
    { id: 'by', label: t('portal.by'), cell: ({ opened_by: by }) => <ResourceName id={by} />, isFlexible: true },
    {
      id: 'permissions',
      label: t('portal.permissions'),
      cell: ({ permissions }) => permissions.map((each) => t(`portal.permission.${each}`)).join(', '),
      isFlexible: true,
    },
    { id: 'ends', label: t('portal.ends'), cell: ({ expires_at: at }) => <Time at={at} /> },
  ];
  return (
    <section>
      <div className="heading">
        <h2>{t('portal.open-links')}</h2>
        {links.length > 1 && (
          <button type="button" onClick={() => setAsked('all')}>
            {t('portal.revoke-all')}
          </button>
        )}
      </div>
      {isPending && <ListSkeleton rows={2} isSection />}
      <FaultLine fault={error} />
      {data && links.length === 0 && <p className="quiet">{t('portal.none')}</p>}
      {links.length > 0 && (
        <Table
          id="portal-links"
          label={t('portal.open-links')}
          rows={links}
          columns={columns}
          keyOf={({ id }) => id}
          actions={{
            nameOf: ({ opened_by: by }) => by,
            itemsOf: ({ id }) => [{ label: t('portal.revoke'), onSelect: () => setAsked(id) }],
          }}
        />
      )}
      {asked !== null && (
        <Confirm
          title={t(asked === 'all' ? 'portal.revoke-all' : 'portal.revoke')}
          action={t(asked === 'all' ? 'portal.revoke-all' : 'portal.revoke')}
          isDangerous
          onConfirm={revoke}
          onClose={() => setAsked(null)}
        >
          <p>{t(asked === 'all' ? 'portal.revoke-all-text' : 'portal.revoke-text')}</p>
        </Confirm>
      )}
    </section>
  );
}
