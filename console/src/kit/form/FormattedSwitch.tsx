import type { ReactNode } from 'react';
import { t } from '../messages/t';
import { Segmented } from './Segmented';

/** Chooses whether a payload is shown formatted, or exactly as it was sent. */
export function FormattedSwitch({
  isFormatted,
  onChange,
}: {
  isFormatted: boolean;
  onChange: (isFormatted: boolean) => void;
}): ReactNode {
  return (
    <Segmented
      label={t('payload.view')}
      options={[
        { id: 'formatted', label: t('payload.formatted') },
        { id: 'sent', label: t('payload.sent') },
      ]}
      chosen={isFormatted ? 'formatted' : 'sent'}
      onChoose={(id) => onChange(id === 'formatted')}
    />
  );
}
