import { useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
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
  const { data, error } = usePortalLinks(app);
  const [asked, setAsked] = useState<string | null>(null);
  const revoke = async (): Promise<void> => {
    await (asked === 'all'
      ? answered(api.DELETE('/v1/app/{app}/portal', { params: { path: { app } } }))
      : answered(api.DELETE('/v1/app/{app}/portal/{id}', { params: { path: { app, id: asked ?? '' } } })));
    await queries.invalidateQueries({ queryKey: ['portal-links', env, app] });
  };
  const links = data?.data ?? [];
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
      <FaultLine fault={error} />
      {data && links.length === 0 && <p className="quiet">{t('portal.none')}</p>}
      {links.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('portal.open-links')}>
          <table className="plain">
            <thead>
              <tr>
                <th scope="col">{t('created')}</th>
                <th scope="col">{t('portal.by')}</th>
                <th scope="col">{t('portal.permissions')}</th>
                <th scope="col">{t('portal.ends')}</th>
                <th scope="col">
                  <span className="offscreen">{t('portal.revoke')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {links.map((link) => (
                <tr key={link.id}>
                  <td>
                    <Time at={link.created_at} />
                    {link.kind === 'preview' && <span className="tag">{t('portal.preview')}</span>}
                  </td>
                  <td>
                    <bdi>{link.opened_by}</bdi>
                  </td>
                  <td>{link.permissions.map((each) => t(`portal.permission.${each}`)).join(', ')}</td>
                  <td>
                    <Time at={link.expires_at} />
                  </td>
                  <td>
                    <button type="button" className="small" onClick={() => setAsked(link.id)}>
                      {t('portal.revoke')}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
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
