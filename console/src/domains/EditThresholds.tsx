import { type ReactNode, useState } from 'react';
import { answered } from '../api/client';
import { Confirm } from '../kit/dialog/Confirm';
import { useIsChanged } from '../kit/form/use-is-changed';
import { t } from '../kit/messages/t';
import { useSigned } from '../session/session';
import { type Domain, useKnownDomain } from './domain-queries';
import { RATES, readThresholds, thresholdDraftOf, type Thresholds } from './reputation-draft';

interface EditThresholdsProps {
  domain: Domain;
  thresholds: Thresholds;
  onClose: () => void;
}

/** Form for the limits at which a domain is at risk or paused. */
export function EditThresholds({ domain, thresholds, onClose }: EditThresholdsProps): ReactNode {
  const { api } = useSigned();
  const known = useKnownDomain();
  const [draft, setDraft] = useState(() => thresholdDraftOf(thresholds));
  const isChanged = useIsChanged(draft);
  const read = readThresholds(draft);
  const save = async (): Promise<void> => {
    await known(
      await answered(
        api.PATCH('/v1/domains/{id}', {
          params: { path: { id: domain.id } },
          body: { acknowledge_mx_conflict: false, thresholds: read },
        }),
      ),
    );
  };
  return (
    <Confirm
      title={t('reputation.limits')}
      action={t('save')}
      isOff={!isChanged || read === null}
      onConfirm={save}
      onClose={onClose}
    >
      <p>{t('reputation.limits-text')}</p>
      <div className="fields">
        {RATES.map((name) => (
          <label key={name}>
            {t(`reputation.${name}`)}
            <input
              type="number"
              step="any"
              min={0}
              max={100}
              required={name.endsWith('warning')}
              value={draft[name]}
              placeholder={name.endsWith('pause') ? t('reputation.never') : undefined}
              onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
            />
          </label>
        ))}
        <label className="wide">
          {t('reputation.minimum')}
          <input
            type="number"
            required
            min={1}
            max={1_000_000}
            value={draft.minimum_sent}
            onChange={(event) => setDraft({ ...draft, minimum_sent: event.target.value })}
          />
        </label>
      </div>
    </Confirm>
  );
}
