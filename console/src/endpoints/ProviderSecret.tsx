import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import type { EndpointDetail } from './endpoint-queries';

const GRACES = [
  [0, 'grace.now'],
  [3_600, 'grace.hour'],
  [86_400, 'grace.day'],
  [604_800, 'grace.week'],
] as const;

interface ProviderSecretProps {
  endpoint: EndpointDetail;
  hint: string | null;
  /** Whether the button is the primary action of its page. */
  isPrimary?: boolean;
}

/** Form that sets the provider's signing secret. A stored secret can be replaced, but is never shown. */
export function ProviderSecret({ endpoint, hint, isPrimary = false }: ProviderSecretProps): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState('');
  const [grace, setGrace] = useState(86_400);
  const close = (): void => {
    setOpen(false);
    setSecret('');
  };
  const store = async (): Promise<void> => {
    const { response, error } = await api.PUT('/v1/endpoints/{id}/secret', {
      params: { path: { id: endpoint.id } },
      body: { secret, grace_seconds: grace },
    });
    await answered(Promise.resolve({ response, error }));
    await queries.invalidateQueries({ queryKey: ['endpoint', env, endpoint.id] });
    await queries.invalidateQueries({ queryKey: ['endpoints', env] });
  };
  return (
    <div className="secret-step">
      <button type="button" className={isPrimary ? 'primary' : ''} onClick={() => setOpen(true)}>
        {t(endpoint.has_secret ? 'provider-secret.replace' : 'provider-secret.set')}
      </button>
      {isOpen && (
        <Confirm
          title={t(endpoint.has_secret ? 'provider-secret.replace' : 'provider-secret.set')}
          action={t('save')}
          isOff={secret === ''}
          onConfirm={store}
          onClose={close}
        >
          <div className="stacked">
            {hint !== null && <p>{hint}</p>}
            <label>
              {t('provider-secret')}
              <input
                type="password"
                required
                maxLength={4096}
                value={secret}
                onChange={(event) => setSecret(event.target.value)}
                autoFocus
                autoComplete="off"
                spellCheck={false}
              />
            </label>
            {endpoint.has_secret && (
              <label>
                {t('grace')}
                <select value={grace} onChange={(event) => setGrace(Number(event.target.value))}>
                  {GRACES.map(([seconds, label]) => (
                    <option key={seconds} value={seconds}>
                      {t(label)}
                    </option>
                  ))}
                </select>
              </label>
            )}
            <p className="quiet">{t('provider-secret.text')}</p>
          </div>
        </Confirm>
      )}
    </div>
  );
}
