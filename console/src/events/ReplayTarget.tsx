import { type ReactNode, useId } from 'react';
import { t } from '../kit/messages/t';
import { DestinationPicker } from '../session/DestinationPicker';

/** Choice between the original targets of an event (null), and one destination or URL (empty until it is picked). */
export function ReplayTarget({
  value,
  onChange,
}: {
  value: string | null;
  onChange: (destination: string | null) => void;
}): ReactNode {
  const name = useId();
  return (
    <fieldset className="replay-target">
      <legend>{t('replay-to')}</legend>
      <label className="check">
        <input type="radio" name={name} checked={value === null} onChange={() => onChange(null)} />
        {t('replay-to.original')}
      </label>
      <label className="check">
        <input type="radio" name={name} checked={value !== null} onChange={() => onChange('')} />
        {t('replay-to.other')}
      </label>
      {value !== null && (
        <>
          <DestinationPicker label={t('filter.destination')} value={value} onPick={onChange} />
          <p className="quiet">{t('replay-to.hint')}</p>
        </>
      )}
    </fieldset>
  );
}
