import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { FaultLine } from '../kit/form/FaultLine';
import { useIsChanged } from '../kit/form/use-is-changed';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type DraftRoute, draftRoutes, readRoutes, sendersOf } from './alias-draft';
import { AliasRoutes } from './AliasRoutes';
import { type Alias, useMailDomains } from './mail-queries';

/** Form for a new alias, or for the properties of an existing alias. */
export function AliasForm({ alias, onClose }: { alias: Alias | null; onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [domainId, setDomainId] = useState('');
  const [localPart, setLocalPart] = useState('');
  const [routes, setRoutes] = useState<DraftRoute[]>(() => draftRoutes(alias));
  const [senders, setSenders] = useState(alias?.allowedSenders.join('\n') ?? '');
  const [megabytes, setMegabytes] = useState(alias?.maxSizeBytes ? String(alias.maxSizeBytes / 1_000_000) : '');
  const isChanged = useIsChanged([localPart, routes, senders, megabytes]);
  const read = readRoutes(routes, t('filter-editor.object'));
  const save = async (): Promise<void> => {
    const settings = {
      routes: read.map(({ destination, filter }) => ({ destination, filter })),
      allowedSenders: sendersOf(senders),
      maxSizeBytes: megabytes === '' ? null : Math.round(Number(megabytes) * 1_000_000),
    };
    const { id } =
      alias === null
        ? await answered(
            api.POST('/v1/aliases', {
              body: {
                ...(domainId === '' ? { kind: 'platform' } : { kind: 'custom', domainId }),
                localPart,
                ...settings,
              },
            }),
          )
        : await answered(api.PATCH('/v1/aliases/{alias}', { params: { path: { alias: alias.id } }, body: settings }));
    await queries.invalidateQueries({ queryKey: ['alias', env, id] });
    await queries.invalidateQueries({ queryKey: ['aliases', env] });
    if (alias === null) void navigate({ to: '/$env/inbox/$alias', params: { env, alias: id } });
  };
  return (
    <FormDialog
      title={t(alias === null ? 'alias.new' : 'alias.edit')}
      action={t(alias === null ? 'create' : 'mail.save')}
      isOff={!isChanged || read.some(({ fault: wrong }) => wrong !== null)}
      onSubmit={save}
      onClose={onClose}
    >
      {alias === null && (
        <Address domainId={domainId} onDomain={setDomainId} localPart={localPart} onLocalPart={setLocalPart} />
      )}
      <AliasRoutes routes={routes} faults={read.map(({ fault: wrong }) => wrong)} onChange={setRoutes} />
      <label>
        {t('alias.senders')}
        <textarea
          rows={3}
          value={senders}
          onChange={(event) => setSenders(event.target.value)}
          placeholder={'anna@example.org\n@example.org\n*.example.org'}
          spellCheck={false}
        />
        <span className="quiet">{t('alias.senders-text')}</span>
      </label>
      <label>
        {t('alias.max')}
        <input
          type="number"
          min="0.002"
          max="41"
          step="any"
          value={megabytes}
          onChange={(event) => setMegabytes(event.target.value)}
        />
        <span className="quiet">{t('alias.max-text')}</span>
      </label>
    </FormDialog>
  );
}

interface AddressProps {
  domainId: string;
  onDomain: (id: string) => void;
  localPart: string;
  onLocalPart: (text: string) => void;
}

function Address({ domainId, onDomain, localPart, onLocalPart }: AddressProps): ReactNode {
  const { session } = useSigned();
  const { data, error } = useMailDomains();
  const custom = data?.data.filter(({ kind, state }) => kind === 'email' && state === 'verified') ?? [];
  return (
    <>
      <label>
        {t('alias.domain')}
        <select value={domainId} onChange={(event) => onDomain(event.target.value)}>
          <option value="">{t('alias.platform', { slug: session.organization.slug })}</option>
          {custom.map(({ id, domain }) => (
            <option key={id} value={id}>
              @{domain}
            </option>
          ))}
        </select>
      </label>
      <FaultLine fault={error} />
      <label>
        {t('alias.local')}
        <input
          required
          maxLength={64}
          value={localPart}
          onChange={(event) => onLocalPart(event.target.value)}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="invoices"
        />
        <span className="quiet">{t('alias.local-patterns')}</span>
      </label>
    </>
  );
}
