import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type Domain, useKnownDomain } from './domain-queries';
import { MxConflict, mxOf } from './MxConflict';

/** Actions on a domain. If the user lacks the permission for them, shows which permission is required. */
export function DomainActions({ domain }: { domain: Domain }): ReactNode {
  const { can } = useSigned();
  const [asked, setAsked] = useState<'convert' | 'delete' | null>(null);
  if (!can('admin')) return <span className="quiet">{t('domain.needs-admin')}</span>;
  return (
    <span className="actions">
      {domain.kind !== 'webhook' && (
        <button type="button" onClick={() => setAsked('convert')}>
          {t('domain.convert')}
        </button>
      )}
      <button type="button" className="destructive" onClick={() => setAsked('delete')}>
        {t('delete')}
      </button>
      {asked === 'convert' && <Convert domain={domain} onClose={() => setAsked(null)} />}
      {asked === 'delete' && <Delete domain={domain} onClose={() => setAsked(null)} />}
    </span>
  );
}

function Convert({ domain, onClose }: { domain: Domain; onClose: () => void }): ReactNode {
  const { api } = useSigned();
  const known = useKnownDomain();
  const [mx, setMx] = useState<string[] | null>(null);
  const [isAcknowledged, setAcknowledged] = useState(false);
  const kind = domain.kind === 'email' ? 'email-send' : 'email';
  const convert = async (): Promise<void> => {
    try {
      await known(
        await answered(
          api.PATCH('/v1/domains/{id}', {
            params: { path: { id: domain.id } },
            body: { kind, acknowledge_mx_conflict: isAcknowledged },
          }),
        ),
      );
    } catch (fault) {
      setMx(mxOf(fault));
      throw fault;
    }
  };
  return (
    <Confirm
      title={t('domain.convert')}
      action={t('domain.convert')}
      success={t('domain.converted')}
      onConfirm={convert}
      onClose={onClose}
    >
      <p>{t(kind === 'email' ? 'domain.convert-email' : 'domain.convert-send')}</p>
      {mx !== null && <MxConflict mx={mx} isAcknowledged={isAcknowledged} onChange={setAcknowledged} />}
    </Confirm>
  );
}

function Delete({ domain, onClose }: { domain: Domain; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const remove = async (): Promise<void> => {
    await answered(api.DELETE('/v1/domains/{id}', { params: { path: { id: domain.id } } }));
    await navigate({ to: '/$env/domains', params: { env } });
    queries.removeQueries({ queryKey: ['domain', env, domain.id] });
    for (const key of ['domains', 'mail-domains', 'ingest-hosts'])
      await queries.invalidateQueries({ queryKey: [key, env] });
  };
  return (
    <Confirm
      title={t('delete')}
      action={t('delete')}
      isDangerous
      typed={domain.domain}
      success={t('domain.deleted')}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>{t('domain.delete')}</p>
    </Confirm>
  );
}
