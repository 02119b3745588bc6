import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CopyButton } from '../kit/CopyButton';
import { t } from '../kit/messages/t';
import { Time } from '../kit/time/Time';
import { Names } from '../session/ResourceName';
import { useSigned } from '../session/session';
import { type EndpointDetail, type Preset, useEndpoint, usePresets } from './endpoint-queries';
import { ProviderSecret } from './ProviderSecret';
import { SampleEvent } from './SampleEvent';

/** Instructions for the setup at the provider, with the values to enter there. */
export function SetupTab(): ReactNode {
  const { id } = useParams({ from: '/$env/endpoints/$id' });
  const { can } = useSigned();
  const { data: endpoint } = useEndpoint(id);
  const preset = usePresets().find((each) => each.id === endpoint?.preset) ?? null;
  if (endpoint === undefined) return null;
  return (
    <>
      <section aria-labelledby="steps">
        <h2 id="steps">{preset === null ? t('steps.title-own') : t('steps.title', { provider: preset.name })}</h2>
        <Steps endpoint={endpoint} preset={preset} />
        {preset !== null && (
          <p className="quiet">
            {t('steps.retries')}: {preset.retries}
          </p>
        )}
      </section>
      {can('write') && <SampleEvent endpoint={endpoint} />}
      <Facts of={endpoint} preset={preset} />
    </>
  );
}

function Steps({ endpoint, preset }: { endpoint: EndpointDetail; preset: Preset | null }): ReactNode {
  const { environment: env, can } = useSigned();
  const isVerified = endpoint.verification !== 'none';
  const needsSecret = isVerified && endpoint.verification !== 'jwt';
  const handshake = endpoint.response?.type ?? preset?.response ?? null;
  return (
    <ol className="setup-steps">
      <li>
        <strong>{preset === null ? t('steps.url-own') : t('steps.url', { provider: preset.name })}</strong>
        <p>
          <code>{endpoint.url}</code> <CopyButton text={endpoint.url} />
        </p>
        {preset?.checks_url && <p className="quiet">{t('steps.checks-url')}</p>}
        {handshake !== null && handshake !== 'static' && <p className="quiet">{t('steps.handshake', { handshake })}</p>}
        {handshake === 'meta-challenge' && can('write') && (
          <p>
            <Link to="/$env/endpoints/$id/answers" params={{ env, id: endpoint.id }} search={{}}>
              {t('steps.verify-token')}
            </Link>
          </p>
        )}
      </li>
      {needsSecret && (
        <li>
          <strong>
            {t('steps.secret')}{' '}
            {endpoint.has_secret && (
              <span className="status good">
                <span aria-hidden="true">✓</span> {t('steps.done')}
              </span>
            )}
          </strong>
          {preset !== null && <p>{preset.secret}</p>}
          {can('write') && (
            <ProviderSecret endpoint={endpoint} hint={preset?.secret ?? null} isPrimary={!endpoint.has_secret} />
          )}
        </li>
      )}
      {!isVerified && (
        <li>
          <strong>{t('steps.unverified')}</strong>
          <p>
            {t('steps.unverified-text')}{' '}
            <Link to="/$env/endpoints/$id/settings" params={{ env, id: endpoint.id }}>
              {t('endpoint.settings')}
            </Link>
          </p>
        </li>
      )}
      <li>
        <strong>
          {t('steps.routes')}{' '}
          {endpoint.destinations.length > 0 && (
            <span className="status good">
              <span aria-hidden="true">✓</span> {t('steps.done')}
            </span>
          )}
        </strong>
        <p>
          {endpoint.destinations.length === 0 ? (
            t('steps.no-routes')
          ) : (
            <>
              <Names ids={endpoint.destinations} /> ·
            </>
          )}{' '}
          <Link to="/$env/endpoints/$id/routes" params={{ env, id: endpoint.id }} search={{}}>
            {t('steps.view-routes')}
          </Link>
        </p>
      </li>
    </ol>
  );
}

function Facts({ of, preset }: { of: EndpointDetail; preset: Preset | null }): ReactNode {
  return (
    <section aria-labelledby="facts">
      <h2 id="facts">{t('endpoint.facts')}</h2>
      <dl className="facts">
        <div>
          <dt>{t('column.id')}</dt>
          <dd>
            <code>{of.id}</code> <CopyButton text={of.id} />
          </dd>
        </div>
        <div>
          <dt>{t('endpoint.preset')}</dt>
          <dd>{preset?.name ?? of.preset ?? '–'}</dd>
        </div>
        <div>
          <dt>{t('endpoint.verification')}</dt>
          <dd>
            {of.verification === 'none'
              ? t('verification.none')
              : of.verification === 'preset'
                ? t('verification.preset')
                : of.verification}
          </dd>
        </div>
        <div>
          <dt>{t('endpoint.methods')}</dt>
          <dd>{of.allowed_methods?.join(', ') ?? t('filter.any')}</dd>
        </div>
        <div>
          <dt>{t('endpoint.repeats')}</dt>
          <dd>
            {of.deduplicate === null
              ? t('repeats.kept')
              : t('repeats.dropped', { hours: of.deduplicate.window_hours ?? 0 })}
          </dd>
        </div>
        <div>
          <dt>{t('endpoint.domain')}</dt>
          <dd>{of.domain.host}</dd>
        </div>
        <div>
          <dt>{t('endpoint.version')}</dt>
          <dd>{of.version}</dd>
        </div>
        <div>
          <dt>{t('created')}</dt>
          <dd>
            <Time at={of.created_at} />
          </dd>
        </div>
        <div>
          <dt>{t('endpoint.changed')}</dt>
          <dd>
            <Time at={of.updated_at} />
          </dd>
        </div>
      </dl>
    </section>
  );
}
