import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { FormDialog } from '../kit/dialog/FormDialog';
import { FaultLines } from '../kit/form/FaultLine';
import { t } from '../kit/messages/t';
import { DestinationSelect, useDestinationOptions } from '../session/DestinationSelect';
import { useSigned } from '../session/session';
import { useIngestDomains, usePresetQuery } from './endpoint-queries';
import { PresetPicker } from './PresetPicker';

/** Form for a new endpoint: provider and URL. The page of the new endpoint then explains the setup at the provider. */
export function NewEndpoint({ onClose }: { onClose: () => void }): ReactNode {
  const { api, environment: env } = useSigned();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const hosts = useIngestDomains();
  const destinations = useDestinationOptions();
  const presets = usePresetQuery();
  const domains = hosts.data?.data ?? [];
  const [preset, setPreset] = useState<string | null>(null);
  const [slug, setSlug] = useState('');
  const [domain, setDomain] = useState('');
  const [destination, setDestination] = useState('');
  const [isSlugOwn, setSlugOwn] = useState(false);
  const choose = (id: string | null): void => {
    setPreset(id);
    if (!isSlugOwn) setSlug(id ?? '');
  };
  const create = async (): Promise<void> => {
    const body = {
      slug,
      preset,
      ...(domain !== '' && { domainId: domain }),
      ...(destination !== '' && { destinations: [destination] }),
    };
    const { id } = await answered(api.POST('/v1/endpoints', { body }));
    await queries.invalidateQueries({ queryKey: ['endpoints', env] });
    void navigate({ to: '/$env/endpoints/$id', params: { env, id } });
  };
  return (
    <FormDialog title={t('endpoint.new')} action={t('create')} onSubmit={create} onClose={onClose}>
      <PresetPicker chosen={preset} onChoose={choose} />
      <label>
        {t('endpoint.slug')}
        <input
          required
          maxLength={64}
          pattern="[a-z0-9_\-]+"
          value={slug}
          autoComplete="off"
          spellCheck={false}
          placeholder="stripe"
          aria-describedby="slug-hint"
          onChange={(event) => {
            setSlug(event.target.value);
            setSlugOwn(true);
          }}
        />
      </label>
      <p className="quiet" id="slug-hint">
        {t('endpoint.slug-hint')}
      </p>
      {domains.length > 1 && (
        <label>
          {t('endpoint.domain')}
          <select value={domain} onChange={(event) => setDomain(event.target.value)}>
            {domains.map(({ id, host, kind }) => (
              <option key={id} value={kind === 'platform' ? '' : id}>
                {host}
              </option>
            ))}
          </select>
        </label>
      )}
      <DestinationSelect
        label={t('endpoint.destination')}
        value={destination}
        none={t('endpoint.destination-later')}
        hidesFault
        onChange={setDestination}
      />
      <FaultLines
        parts={[
          { name: t('endpoint.preset'), fault: presets.error },
          { name: t('endpoint.domain'), fault: hosts.error },
          { name: t('endpoint.destination'), fault: destinations.error },
        ]}
      />
    </FormDialog>
  );
}
