import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { CopyButton } from '../kit/CopyButton';
import { FaultLine } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { usePreferences } from '../kit/preferences';
import { useSigned } from '../session/session';
import { useApplication } from './application-queries';
import { EXPIRES_SECONDS, keepBrand, lastBrand, PERMISSIONS, portalBodyOf, type PortalDraft } from './portal-draft';
import { PortalBrandFields } from './PortalBrandFields';
import { PortalSample } from './PortalSample';

const LANGUAGES = [
  ['en', 'English'],
  ['de', 'Deutsch'],
] as const;

/** Form that creates a portal link for an application's customer, with a sample of the portal. Shows the link once. */
export function NewPortalLink({ app }: { app: string }): ReactNode {
  const { api, environment: env } = useSigned();
  const { language } = usePreferences();
  const queries = useQueryClient();
  const { data: application } = useApplication(app);
  const [draft, setDraft] = useState<PortalDraft>(() => ({
    permissions: PERMISSIONS,
    expiresSeconds: 3_600,
    locale: language,
    returnUrl: '',
    ...lastBrand(env),
  }));
  const set = (changes: Partial<PortalDraft>): void => setDraft((now) => ({ ...now, ...changes }));
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () =>
      answered(api.POST('/v1/app/{app}/portal', { params: { path: { app } }, body: portalBodyOf(draft) })),
    gcTime: 0,
    onSuccess: () => {
      keepBrand(env, draft);
      return queries.invalidateQueries({ queryKey: ['portal-links', env, app] });
    },
  });
  return (
    <section aria-labelledby="portal-new">
      <h2 id="portal-new">{t('portal.new')}</h2>
      <p className="quiet">{t('portal.text')}</p>
      <form
        className="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Permissions draft={draft} onChange={set} />
        <LinkFields draft={draft} onChange={set} />
        <div className="split">
          <div className="stacked">
            <PortalBrandFields brand={draft} onChange={set} />
            <FaultLine fault={error} />
            <p className="actions">
              <button type="submit" className="primary" disabled={isPending}>
                {t('portal.create')}
              </button>
            </p>
          </div>
          <PortalSample brand={draft} name={application?.name ?? app} />
        </div>
      </form>
      <div role="status">
        {data && (
          <>
            <p>
              <code className="secret">{data.url}</code> <CopyButton text={data.url} label={t('copy')} />
            </p>
            <p className="quiet">{t('portal.once')}</p>
          </>
        )}
      </div>
    </section>
  );
}

interface PartProps {
  draft: PortalDraft;
  onChange: (changes: Partial<PortalDraft>) => void;
}

function Permissions({ draft: { permissions }, onChange }: PartProps): ReactNode {
  return (
    <fieldset className="checks">
      <legend>{t('portal.permissions')}</legend>
      {PERMISSIONS.map((each) => (
        <label key={each} className="check">
          <input
            type="checkbox"
            checked={permissions.includes(each)}
            disabled={each === 'view'}
            onChange={({ target }) =>
              onChange({
                permissions: target.checked ? [...permissions, each] : permissions.filter((other) => other !== each),
              })
            }
          />{' '}
          {t(`portal.permission.${each}`)}
        </label>
      ))}
    </fieldset>
  );
}

function LinkFields({ draft, onChange }: PartProps): ReactNode {
  return (
    <div className="fields">
      <label>
        {t('portal.expires')}
        <select
          value={draft.expiresSeconds}
          onChange={({ target }) => onChange({ expiresSeconds: Number(target.value) as PortalDraft['expiresSeconds'] })}
        >
          {EXPIRES_SECONDS.map((seconds) => (
            <option key={seconds} value={seconds}>
              {t(`portal.expires.${seconds}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('portal.language')}
        <select
          value={draft.locale}
          onChange={({ target }) => onChange({ locale: target.value as PortalDraft['locale'] })}
        >
          {LANGUAGES.map(([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label className="grow">
        {t('portal.return-url')}
        <input
          type="url"
          maxLength={2048}
          value={draft.returnUrl}
          placeholder="https://app.example.com/settings"
          autoComplete="off"
          onChange={({ target }) => onChange({ returnUrl: target.value })}
        />
      </label>
    </div>
  );
}
